#pragma once

#include "keratin/base/export.h"
#include "keratin/io/load_options.h"
#include "keratin/train/options.h"

namespace keratin {

namespace io {

// Keras's `compile_config`: how a model is trained. A loss or metric that is a C++ function is
// written by its name.
KERATIN_API Json compile_config(const CompileOptions& options);
// The user's own objects are those of CustomObjectScope and register_serializable.
KERATIN_API CompileOptions training_options(const Json& config);

}  // namespace io
}  // namespace keratin
