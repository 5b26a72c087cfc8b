#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "keratin/tensor/tensor.h"

namespace keratin {

// Writes an event file of TensorBoard. Its records have checksums, and each is a protobuf `Event`
// with one summary in TensorFlow 2's form: a tensor, and the name of the plugin that shows it.
class EventWriter {
 public:
  // Makes the folder, and a file with a unique name in it.
  explicit EventWriter(const std::filesystem::path& folder);

  void scalar(std::string_view tag, double value, int64_t step);
  void histogram(std::string_view tag, const Tensor& values, int64_t step);
  // A model's config as JSON, which TensorBoard shows as a graph of layers.
  void keras_model(std::string_view tag, const std::string& json, int64_t step);
  // Passes all records to the system; before that, a crash of the program loses them.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void record(const std::string& event);
  void summary(std::string_view tag, const std::string& tensor, std::string_view plugin,
               std::string_view content, int64_t step);

  std::filesystem::path path_;
  std::ofstream file_;
};

// The checksum of records: CRC-32C, rotated and shifted so that a record may contain checksums.
uint32_t masked_crc32c(std::string_view bytes);

// Thirty buckets of equal width from the smallest to the largest finite value. Each row is left
// edge, right edge and count.
Tensor histogram_buckets(const Tensor& values);

}  // namespace keratin
