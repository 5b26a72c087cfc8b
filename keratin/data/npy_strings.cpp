#include "keratin/data/npy_strings.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "keratin/base/text.h"

namespace keratin {
namespace {

std::string_view without_zeros(std::string_view s) {
  return s.substr(0, s.find_last_not_of('\0') + 1);
}

void append_utf8(std::string& out, uint32_t c, const std::string& who) {
  require(c < 0x110000 && (c < 0xd800 || c > 0xdfff), who, ": ", c, " is no Unicode character");
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      add(0xe0 | c >> 12);
    } else {
      add(0xf0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3f));
    }
    add(0x80 | (c >> 6 & 0x3f));
  }
  add(0x80 | (c & 0x3f));
}

std::string from_utf32(std::string_view data, bool swapped, const std::string& who) {
  std::string out;
  std::vector<uint32_t> characters(data.size() / 4);
  std::memcpy(characters.data(), data.data(), data.size());
  while (!characters.empty() && characters.back() == 0) characters.pop_back();
  for (const uint32_t c : characters) append_utf8(out, swapped ? __builtin_bswap32(c) : c, who);
  return out;
}

size_t width_of(const Tensor& strings) {
  size_t width = 1;
  for (const std::string_view s : strings.data<std::string_view>())
    width = std::max(width, s.size());
  return width;
}

}  // namespace

std::optional<Tensor> read_npy_strings(std::string_view type, const Shape& shape,
                                       std::string_view data, const std::string& who) {
  if (type.size() < 3 || (type[1] != 'S' && type[1] != 'U')) return std::nullopt;
  size_t width = 0;
  const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), width);
  require(
      error == std::errc() && end == type.data() + type.size() && width > 0 && width <= data.size(),
      who, ": the dtype '", type, "' is damaged, or larger than the file");
  const bool bytes = type[1] == 'S';
  if (!bytes) width *= 4;
  require(static_cast<size_t>(shape.count()) <= data.size() / width, who, ": the shape ", shape,
          " needs more data than the file has");
  std::vector<std::string> strings;
  for (size_t i = 0; i < static_cast<size_t>(shape.count()); ++i) {
    const std::string_view element = data.substr(i * width, width);
    strings.push_back(bytes ? std::string(without_zeros(element))
                            : from_utf32(element, type[0] == '>', who));
  }
  return Tensor(strings, shape);
}

std::string npy_string_type(const Tensor& strings) { return text("|S", width_of(strings)); }

void write_npy_strings(files::Sink& sink, const Tensor& strings) {
  const size_t width = width_of(strings);
  for (const std::string_view s : strings.data<std::string_view>()) {
    require(without_zeros(s) == s, "NumPy cannot hold a string that ends with a zero");
    std::string element(s);
    element.resize(width, '\0');
    sink.write(files::as_bytes(element));
  }
}

}  // namespace keratin
