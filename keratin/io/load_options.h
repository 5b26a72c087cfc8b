#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "keratin/graph/custom_objects.h"
#include "keratin/layers/lambda.h"
#include "keratin/layers/registry.h"
#include "keratin/losses/loss.h"
#include "keratin/metrics/metric.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct LoadOptions {
  // The program's own layers, models, activations, initializers, regularizers, constraints, losses,
  // metrics, optimizers and schedules that the file names, by these names. They come before those
  // of register_serializable. What the file says is Keras's is Keras's own, but a name alone, as
  // functions and .h5 files have it, is what is bound to it here.
  CustomObjects custom_objects = {};
  // Functions for Lambda layers, by the name of the layer or of its Python function. Python code in
  // a file is kept, and never run.
  std::map<std::string, LambdaFunction, std::less<>> lambdas = {};
  bool compile = true;  // as the saved model was, with its optimizer
  // The version of Keras whose rules masks follow; by default, the one that wrote the file.
  std::optional<Dialect> dialect = {};
};

}  // namespace keratin
