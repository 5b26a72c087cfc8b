#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/io/compile_config.h"
#include "keratin/layers/lambda.h"
#include "keratin/layers/registry.h"
#include "keratin/train/trainer.h"

namespace keratin {

struct LoadOptions {
  // Classes of the program's own that the file names; nothing else is ever made from a file.
  CustomLayers layers = {};
  // For Lambda layers, by the layer's name or by that of its Python function: what a file holds of
  // them is kept, and never run.
  std::map<std::string, LambdaFunction, std::less<>> lambdas = {};
  // Activations, initializers, regularizers and constraints of the program's own, by the names that
  // the file has for them: C++ functions, or makers that take the config in the file.
  CustomPartsOf<Activation> activations = {};
  CustomPartsOf<Initializer> initializers = {};
  CustomPartsOf<Regularizer> regularizers = {};
  CustomPartsOf<Constraint> constraints = {};
  CustomTraining training = {};
  bool compile = true;  // as it was when it was saved, optimizer included
  // Whose rules masks follow; by the version of Keras that wrote the file unless given.
  std::optional<Dialect> dialect = {};
};

namespace io {

// What a file holds: a model with its weights and, where it was compiled, how it is trained.
struct SavedModel {
  LayerPtr layer;
  Dialect dialect = Dialect::keras3;
  std::optional<CompileOptions> training = {};
};

// The version of Keras whose layout is written.
inline constexpr const char* keras_version = "3.15.1";

// Keras 3's .keras: a zip, or a folder with the same files.
KERATIN_API SavedModel read_keras(const std::filesystem::path& path,
                                  const LoadOptions& options = {});
// Appears whole or not at all. With a trainer, how it trains and the optimizer's state too.
KERATIN_API void write_keras(const std::filesystem::path& path, const Layer& model,
                             const Trainer* trainer = nullptr);

// Of a .keras the weights alone, and the state of an optimizer where there is one for it.
struct ReadOptions;
KERATIN_API void read_keras_weights(const std::filesystem::path& path, const Layer& model,
                                    OptimizerState* optimizer, const ReadOptions& options);

// The mask rules of the Keras that wrote a file: "2.2.5", "3.15.1".
KERATIN_API Dialect dialect_of_version(const std::string& version);

// A model from Keras's envelope, Lambdas bound.
KERATIN_API LayerPtr model_from(const Json& config, const LoadOptions& options, Dialect dialect);

}  // namespace io
}  // namespace keratin
