#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

// Constants and rules that the reader and the writer of zip files share: APPNOTE.TXT 6.3.10.
namespace keratin::files::zip {

inline constexpr uint32_t local_signature = 0x04034b50;
inline constexpr uint32_t central_signature = 0x02014b50;
inline constexpr uint32_t end_signature = 0x06054b50;
inline constexpr uint32_t end64_signature = 0x06064b50;
inline constexpr uint32_t locator64_signature = 0x07064b50;

inline constexpr uint64_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                          locator64_size = 20;
inline constexpr uint16_t zip64_field = 1;         // id of the extra field with 64-bit sizes
inline constexpr uint16_t padding_field = 0xd935;  // id that other writers use for alignment too
inline constexpr uint16_t max16 = 0xffff;          // means: see the zip64 field
inline constexpr uint32_t max32 = 0xffffffff;

// The reason why a name is refused; empty if it is valid. Entries are never unpacked to disk by
// their names, but a zip that tries to write elsewhere is hostile, and is refused as a whole.
inline std::string_view name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.find('\0') != name.npos) return "contains a NUL";
  if (name.front() == '/') return "is absolute";
  if (name.find('\\') != name.npos) return "contains a backslash";
  if (name.size() > 1 && name[1] == ':') return "is absolute";
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    if (name.substr(at, slash - at) == "..") return "leads out of the file";
    at = slash + 1;
  }
  return {};
}

}  // namespace keratin::files::zip
