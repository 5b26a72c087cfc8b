#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/files/mapped_file.h"
#include "keratin/io/load_options.h"
#include "keratin/train/trainer.h"

namespace keratin {

namespace files {
class OutputFile;
}

namespace io {

// The contents of a file: a model with its weights and, if it was compiled, its training config.
struct SavedModel {
  LayerPtr layer;
  Dialect dialect = Dialect::keras3;
  std::optional<CompileOptions> training = {};
};

// The version of Keras whose layout Keratin writes.
inline constexpr const char* keras_version = "3.15.1";

// Reads Keras 3's .keras: a zip, or a folder with the same files.
KERATIN_API SavedModel read_keras(const std::filesystem::path& path,
                                  const LoadOptions& options = {});
// The same of the bytes of a zip.
SavedModel read_keras(const files::FileView& file, const LoadOptions& options);
// Writes a .keras file, which appears whole or not at all. With a trainer, the training config and
// the optimizer's state are written too.
KERATIN_API void write_keras(const std::filesystem::path& path, const Layer& model,
                             const Trainer* trainer = nullptr);
void write_keras(files::OutputFile& file, const Layer& model, const Trainer* trainer);

// Reads the weights of a .keras alone, and the state of an optimizer if there is one.
struct ReadOptions;
KERATIN_API void read_keras_weights(const std::filesystem::path& path, const Layer& model,
                                    OptimizerState* optimizer, const ReadOptions& options);

// The mask rules of a version of Keras, such as "2.2.5" or "3.15.1".
KERATIN_API Dialect dialect_of_version(const std::string& version);

// Makes a model from Keras's envelope, and binds its Lambdas.
KERATIN_API LayerPtr model_from(const Json& config, const LoadOptions& options, Dialect dialect);

}  // namespace io
}  // namespace keratin
