#include "keratin/backend/cuda/driver/kernel_cache.h"

#include <cstdlib>
#include <optional>

#include "keratin/files/atomic_file.h"
#include "keratin/files/compression.h"
#include "keratin/files/mapped_file.h"

namespace keratin::cuda {

namespace {

using namespace files;

constexpr std::string_view magic = "keratin kernel 1";

// In a file: magic, length of the key, key, length and checksum of the code, code.
std::optional<std::string> read(const std::filesystem::path& path, const std::string& key) {
  try {
    const FileView file = map_file(path);
    Cursor at(file.bytes(), file.name(), "a kernel");
    if (as_text(at.take(magic.size())) != magic || as_text(at.take(at.u64())) != key) return {};
    const uint64_t size = at.u64();
    const uint32_t sum = at.u32();
    const Bytes code = at.take(size);
    if (at.left() > 0 || crc32(code) != sum) return {};
    return std::string(as_text(code));
  } catch (const UserError&) {
    return {};
  }
}

void write(const std::filesystem::path& path, const std::string& key, const std::string& code) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  try {
    AtomicFile file(path);
    Packer head;
    head.put(magic).u64(key.size()).put(key).u64(code.size()).u32(crc32(as_bytes(code)));
    file.write(as_bytes(head.bytes()));
    file.write(as_bytes(code));
    file.commit();
  } catch (const UserError&) {
    // The disk is full or read-only: the next program compiles again.
  }
}

std::filesystem::path folder_of_user() {
  if (const char* folder = std::getenv("KERATIN_CACHE")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != 0)
    return std::filesystem::path(folder) / "keratin";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0)
    return std::filesystem::path(home) / ".cache" / "keratin";
  return {};
}

}  // namespace

const KernelCache& KernelCache::of_user() {
  static const KernelCache cache(folder_of_user());
  return cache;
}

// Two independent hashes, so that two kernels rarely get the same name.
std::filesystem::path KernelCache::path_of(const std::string& key) const {
  char name[32];
  std::snprintf(name, sizeof name, "%016zx%08x.cubin", std::hash<std::string>{}(key),
                crc32(as_bytes(key)));
  return folder_ / name;
}

std::string KernelCache::find(const std::string& key,
                              const std::function<std::string()>& compile) const {
  if (folder_.empty()) return compile();
  const std::filesystem::path path = path_of(key);
  if (auto kept = read(path, key)) return *std::move(kept);
  std::string code = compile();
  write(path, key, code);
  return code;
}

}  // namespace keratin::cuda
