#pragma once

#include <filesystem>
#include <optional>

#include "keratin/io/weights.h"

namespace keratin::io {

// Writes and reads files of weights alone: Keras's .weights.h5 and .weights.json with its shards,
// or .npz and .safetensors, whose tensors are named by their paths in Keras's tree, such as
// "layers/dense/vars/0". The suffix chooses the format to write; a file that is read is recognised
// by its contents.
struct WeightsFileOptions {
  std::optional<double> max_shard_size = {};  // in GiB, for .weights.json; 5 by default
};
void write_weights_file(const std::filesystem::path& path, const Layer& model,
                        const OptimizerState* optimizer = nullptr,
                        const WeightsFileOptions& options = {});
void read_weights_file(const std::filesystem::path& path, const Layer& model,
                       OptimizerState* optimizer = nullptr, const ReadOptions& options = {});
// True if the path has one of the suffixes below.
bool is_weights_file(const std::filesystem::path& path);
inline constexpr std::string_view weights_suffixes =
    ".weights.h5, .weights.json, .npz or .safetensors";

}  // namespace keratin::io
