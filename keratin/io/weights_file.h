#pragma once

#include <filesystem>
#include <optional>

#include "keratin/io/weights.h"

namespace keratin::io {

// Weights alone; the suffix says in which format, and of a file that is read its contents:
// .weights.h5 and .weights.json with its shards (Keras's), .npz or .safetensors, where a tensor is
// called by its place in Keras's tree: "layers/dense/vars/0".
struct WeightsFileOptions {
  std::optional<double> max_shard_size = {};  // in GiB, of .weights.json; 5 unless given
};
void write_weights_file(const std::filesystem::path& path, const Layer& model,
                        const OptimizerState* optimizer = nullptr,
                        const WeightsFileOptions& options = {});
void read_weights_file(const std::filesystem::path& path, const Layer& model,
                       OptimizerState* optimizer = nullptr, const ReadOptions& options = {});
// Is it one of those suffixes? And all of them, for messages.
bool is_weights_file(const std::filesystem::path& path);
inline constexpr std::string_view weights_suffixes =
    ".weights.h5, .weights.json, .npz or .safetensors";

}  // namespace keratin::io
