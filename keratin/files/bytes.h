#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "keratin/base/text.h"

namespace keratin::files {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A name from a file, quoted for messages: cut to 200 bytes, control characters replaced by '?'.
inline std::string in_quotes(std::string_view name) {
  constexpr size_t shown = 200;
  std::string out = "'";
  for (const char c : name.substr(0, shown)) out += c >= 0 && (c < ' ' || c == 127) ? '?' : c;
  return out + (name.size() > shown ? "…'" : "'");
}

// Reads little-endian numbers from bytes, one after the other. Reading past the end is a UserError
// that names the file and the structure that was being read.
class Cursor {
 public:
  Cursor(Bytes bytes, std::string_view file, std::string_view what, uint64_t at = 0)
      : bytes_(bytes), file_(file), what_(what), at_(at) {
    if (at > bytes.size()) ends_early();
  }

  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  Bytes take(uint64_t size) {
    if (size > left()) ends_early();
    const Bytes taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }
  void skip(uint64_t size) { take(size); }
  void skip_padding(uint64_t alignment) { skip((alignment - at_ % alignment) % alignment); }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  // An unsigned number of `size` bytes, at most eight.
  uint64_t unsigned_of(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    keratin::fail(file_, ": ", parts...);
  }
  template <class... Parts>
  void require(bool condition, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      fail(parts...);
  }

 private:
  [[noreturn]] void ends_early() const { fail("the file ends inside ", what_); }

  Bytes bytes_;
  std::string_view file_, what_;
  uint64_t at_;
};

// Writes little-endian numbers into memory.
class Packer {
 public:
  template <class T>
  Packer& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Packer& u8(uint8_t value) { return number(value); }
  Packer& u16(uint16_t value) { return number(value); }
  Packer& u32(uint32_t value) { return number(value); }
  Packer& u64(uint64_t value) { return number(value); }
  Packer& put(std::string_view text) {
    bytes_.append(text);
    return *this;
  }
  Packer& zeros(size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  Packer& pad(size_t alignment) { return zeros((alignment - size() % alignment) % alignment); }

  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace keratin::files
