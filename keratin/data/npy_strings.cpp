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

// Appends an element of UTF-32, and returns its size.
size_t append_utf32(std::string& out, std::string_view data, bool swapped, const std::string& who) {
  const size_t before = out.size();
  const size_t used = (without_zeros(data).size() + 3) / 4;
  for (size_t i = 0; i < used; ++i) {
    uint32_t c = 0;
    std::memcpy(&c, data.data() + i * 4, 4);
    append_utf8(out, swapped ? __builtin_bswap32(c) : c, who);
  }
  return out.size() - before;
}

// Converts elements of UTF-32; the result is in `characters`.
void to_utf8(std::span<std::string_view> elements, std::string& characters, bool swapped,
             const std::string& who) {
  std::vector<size_t> sizes;
  for (const std::string_view element : elements)
    sizes.push_back(append_utf32(characters, element, swapped, who));
  size_t begin = 0;
  for (size_t i = 0; i < elements.size(); begin += sizes[i++])
    elements[i] = std::string_view(characters).substr(begin, sizes[i]);
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
  const bool is_size = error == std::errc() && end == type.data() + type.size() && width > 0;
  require(is_size && (shape.count() == 0 || width <= data.size()), who, ": the dtype '", type,
          "' is damaged, or larger than the file");
  if (shape.count() == 0) return Tensor(DType::string, shape);
  const bool bytes = type[1] == 'S';
  if (!bytes) width *= 4;
  require(static_cast<size_t>(shape.count()) <= data.size() / width, who, ": the shape ", shape,
          " needs more data than the file has");
  Tensor strings(DType::string, shape);
  const std::span<std::string_view> out = strings.data<std::string_view>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = data.substr(i * width, width);
  std::string characters;
  if (bytes)
    std::transform(out.begin(), out.end(), out.begin(), without_zeros);
  else
    to_utf8(out, characters, type[0] == '>', who);
  return strings.own_strings();
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
