#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "keratin/graph/custom_parts.h"
#include "keratin/layers/lambda.h"
#include "keratin/layers/registry.h"
#include "keratin/losses/loss.h"
#include "keratin/metrics/metric.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

// The user's losses, metrics and optimizers, by their names in files. An optimizer is made from its
// config.
struct CustomTraining {
  std::map<std::string, Loss, std::less<>> losses = {};
  std::map<std::string, Metric, std::less<>> metrics = {};
  std::map<std::string, std::function<Optimizer(const Json& config)>, std::less<>> optimizers = {};
};

struct LoadOptions {
  // The program's own classes that the file names. No other class is ever made from a file.
  CustomLayers layers = {};
  // Functions for Lambda layers, by the name of the layer or of its Python function. Python code in
  // a file is kept, and never run.
  std::map<std::string, LambdaFunction, std::less<>> lambdas = {};
  // The program's own activations, initializers, regularizers and constraints, by their names in
  // the file: C++ functions, or factories that take the config in the file.
  CustomPartsOf<Activation> activations = {};
  CustomPartsOf<Initializer> initializers = {};
  CustomPartsOf<Regularizer> regularizers = {};
  CustomPartsOf<Constraint> constraints = {};
  CustomTraining training = {};
  bool compile = true;  // as the saved model was, with its optimizer
  // The version of Keras whose rules masks follow; by default, the one that wrote the file.
  std::optional<Dialect> dialect = {};
};

}  // namespace keratin
