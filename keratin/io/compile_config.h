#pragma once

#include "keratin/base/export.h"
#include "keratin/train/options.h"

namespace keratin {

// The user's losses, metrics and optimizers, by their names in files. An optimizer is made from its
// config.
struct CustomTraining {
  std::map<std::string, Loss, std::less<>> losses = {};
  std::map<std::string, Metric, std::less<>> metrics = {};
  std::map<std::string, std::function<Optimizer(const Json& config)>, std::less<>> optimizers = {};
};

namespace io {

// Keras's `compile_config`: how a model is trained. A loss or metric that is a C++ function is
// written by its name.
KERATIN_API Json compile_config(const CompileOptions& options);
KERATIN_API CompileOptions training_options(const Json& config, const CustomTraining& custom = {});

}  // namespace io
}  // namespace keratin
