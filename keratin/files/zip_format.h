#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

// What reader and writer of zip files share: APPNOTE.TXT 6.3.10.
namespace keratin::files::zip {

inline constexpr uint32_t local_sign = 0x04034b50;
inline constexpr uint32_t central_sign = 0x02014b50;
inline constexpr uint32_t end_sign = 0x06054b50;
inline constexpr uint32_t end64_sign = 0x06064b50;
inline constexpr uint32_t locator64_sign = 0x07064b50;

inline constexpr uint64_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                          locator64_size = 20;
inline constexpr uint16_t zip64_field = 1;         // of the extra fields
inline constexpr uint16_t padding_field = 0xd935;  // what others use for alignment, too
inline constexpr uint16_t max16 = 0xffff;          // "see the zip64 field"
inline constexpr uint32_t max32 = 0xffffffff;

// Why a name is refused; empty when it is fine. Entries are never unpacked to disk by their names,
// but a file that tries to lead elsewhere is not one we want to read.
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
