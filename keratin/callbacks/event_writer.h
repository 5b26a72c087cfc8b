#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "keratin/tensor/tensor.h"

namespace keratin {

// One of TensorBoard's event files: records with checksums, each a protobuf `Event` with one
// summary as TensorFlow 2 writes it, a tensor beside the name of the plugin that shows it.
class EventWriter {
 public:
  // Makes the folder and a file in it with a name of its own.
  explicit EventWriter(const std::filesystem::path& folder);

  void scalar(std::string_view tag, double value, int64_t step);
  void histogram(std::string_view tag, const Tensor& values, int64_t step);
  // A model's config as JSON, which TensorBoard shows as a graph of layers.
  void keras_model(std::string_view tag, const std::string& json, int64_t step);
  // Until now, records may be lost when the program dies.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void record(const std::string& event);
  void summary(std::string_view tag, const std::string& tensor, std::string_view plugin,
               std::string_view content, int64_t step);

  std::filesystem::path path_;
  std::ofstream file_;
};

// The checksum of records: CRC-32C, rotated and shifted so that a record may hold checksums itself.
uint32_t masked_crc32c(std::string_view bytes);

// Thirty buckets of one width between the least and the greatest finite value: rows of left edge,
// right edge and count.
Tensor histogram_buckets(const Tensor& values);

}  // namespace keratin
