#pragma once

#include "keratin/base/export.h"
#include "keratin/train/options.h"

namespace keratin {

// Losses, metrics and optimizers of the program's own, by the names that files know them by. An
// optimizer is made from its config.
struct CustomTraining {
  std::map<std::string, Loss, std::less<>> losses = {};
  std::map<std::string, Metric, std::less<>> metrics = {};
  std::map<std::string, std::function<Optimizer(const Json& config)>, std::less<>> optimizers = {};
};

namespace io {

// How a model is trained, as Keras's `compile_config` says it. A loss or metric that is a function
// of the program is written by its name.
KERATIN_API Json compile_config(const CompileOptions& options);
KERATIN_API CompileOptions training_options(const Json& config, const CustomTraining& custom = {});

}  // namespace io
}  // namespace keratin
