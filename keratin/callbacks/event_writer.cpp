#include "keratin/callbacks/event_writer.h"
#include "keratin/base/text.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>

namespace keratin {
namespace {

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

// Builds a protobuf message. Integers that are 0 are left out, as in protobuf.
class Message {
 public:
  Message& integer(uint32_t field, int64_t value) {
    if (value == 0) return *this;
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& number(uint32_t field, double value) {
    key(field, 1);
    bytes_ += little_endian(std::bit_cast<uint64_t>(value));
    return *this;
  }
  // A field of length-delimited data: a string, bytes, or another message.
  Message& data(uint32_t field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(uint32_t field, uint32_t kind) { varint(field << 3 | kind); }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// The field numbers of tensorflow/core/util/event.proto and framework/{summary,tensor}.proto.
enum EventField : uint32_t {
  wall_time = 1,
  step_number,
  file_version,
  summary_part = 5,
  source = 10
};
enum ValueField : uint32_t { tag_name = 1, tensor_part = 8, metadata_part };
enum TensorField : uint32_t { element_type = 1, shape_part, content = 4, string_value = 8 };
enum ElementType : int64_t { type_float = 1, type_double = 2, type_string = 7 };

std::string shape_message(std::initializer_list<int64_t> sizes) {
  Message shape;
  for (const int64_t size : sizes) shape.data(2, Message().integer(1, size).bytes());
  return shape.bytes();
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// TensorFlow's name for an event file. The last number makes it unique within a second.
std::string file_name() {
  static std::atomic<int> made = 0;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '_';
  return text("events.out.tfevents.", static_cast<int64_t>(now()), '.', host.data(), '.', getpid(),
              '.', made++, ".v2");
}

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t i = 0; i < entries.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * 0x82f63b78u);
      entries[i] = value;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (const char b : bytes) crc = table[(crc ^ static_cast<uint8_t>(b)) & 255] ^ (crc >> 8);
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

Tensor histogram_buckets(const Tensor& values) {
  constexpr int64_t count = 30;
  std::vector<double> finite;
  for (int64_t i = 0; i < values.count(); ++i)
    if (std::isfinite(values.at(i))) finite.push_back(values.at(i));
  Tensor buckets = Tensor::zeros(DType::f64, {count, 3});
  if (finite.empty()) return buckets;
  const auto [min, max] = std::minmax_element(finite.begin(), finite.end());
  const double width = (*max - *min) / count;
  for (int64_t i = 0; i < count; ++i) {
    buckets.set(3 * i, *min + width * static_cast<double>(i));
    buckets.set(3 * i + 1, i + 1 == count ? *max : *min + width * static_cast<double>(i + 1));
  }
  for (const double value : finite) {
    const auto at = width > 0 ? static_cast<int64_t>((value - *min) / width) : count - 1;
    const int64_t slot = 3 * std::min(at, count - 1) + 2;
    buckets.set(slot, buckets.at(slot) + 1);
  }
  return buckets;
}

EventWriter::EventWriter(const std::filesystem::path& folder) : path_(folder / file_name()) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  require(!failed, "TensorBoard: the folder ", folder.string(),
          " cannot be made: ", failed.message());
  file_.open(path_, std::ios::binary);
  require(file_.good(), "TensorBoard: ", path_.string(), " cannot be written");
  record(Message()
             .number(wall_time, now())
             .data(file_version, "brain.Event:2")
             .data(source, Message().data(1, "keratin").bytes())
             .bytes());
  flush();
}

void EventWriter::record(const std::string& event) {
  const std::string length = little_endian(static_cast<uint64_t>(event.size()));
  file_ << length << little_endian(masked_crc32c(length)) << event
        << little_endian(masked_crc32c(event));
}

void EventWriter::flush() {
  file_.flush();
  require(file_.good(), "TensorBoard: writing to ", path_.string(), " failed");
}

void EventWriter::summary(std::string_view tag, const std::string& tensor, std::string_view plugin,
                          std::string_view content, int64_t step) {
  Message plugin_data;
  plugin_data.data(1, plugin);
  if (!content.empty()) plugin_data.data(2, content);
  const std::string metadata = Message().data(1, plugin_data.bytes()).bytes();
  const std::string value =
      Message().data(tag_name, tag).data(tensor_part, tensor).data(metadata_part, metadata).bytes();
  record(Message()
             .number(wall_time, now())
             .integer(step_number, step)
             .data(summary_part, Message().data(1, value).bytes())
             .bytes());
}

void EventWriter::scalar(std::string_view tag, double value, int64_t step) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  summary(tag,
          Message()
              .integer(element_type, type_float)
              .data(shape_part, shape_message({}))
              .data(content, little_endian(bits))
              .bytes(),
          "scalars", "", step);
}

void EventWriter::histogram(std::string_view tag, const Tensor& values, int64_t step) {
  const Tensor buckets = histogram_buckets(values);
  std::string bytes;
  for (const double number : buckets.data<double>())
    bytes += little_endian(std::bit_cast<uint64_t>(number));
  summary(tag,
          Message()
              .integer(element_type, type_double)
              .data(shape_part, shape_message({buckets.shape()[0], buckets.shape()[1]}))
              .data(content, bytes)
              .bytes(),
          "histograms", "", step);
}

void EventWriter::keras_model(std::string_view tag, const std::string& json, int64_t step) {
  summary(tag,
          Message()
              .integer(element_type, type_string)
              .data(shape_part, shape_message({}))
              .data(string_value, json)
              .bytes(),
          "graph_keras_model", "1", step);
}

}  // namespace keratin
