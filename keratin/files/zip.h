#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "keratin/files/atomic_file.h"
#include "keratin/files/mapped_file.h"

namespace keratin::files {

struct ZipEntry {
  std::string name;
  uint64_t size = 0;    // unpacked
  uint64_t stored = 0;  // in the file
  uint64_t begin = 0;   // of the data
  uint32_t crc = 0;
  bool deflated = false;
};

// What a zip may ask for. Few bytes of a hostile one could otherwise fill the memory.
struct ZipLimits {
  uint64_t entries = 1 << 20;
  // An entry, and all entries together, may unpack to this much, or to `ratio` times their size.
  uint64_t unpacked = uint64_t{256} << 20;
  uint64_t ratio = 100;
};

// Reads zip files: stored and deflated entries, zip64. It opens whole or not at all: names that
// lead elsewhere or come twice, entries that overlap, encrypted ones and sizes that cannot be are
// refused.
class ZipReader {
 public:
  explicit ZipReader(FileView file, ZipLimits limits = {});

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;
  // The contents, whose checksum is right: a part of the file, or unpacked memory.
  FileView read(const ZipEntry& entry) const;
  FileView read(std::string_view name) const;  // must be there

 private:
  FileView file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

// Writes a zip of stored entries, each from a stream whose length need not be known before.
class ZipWriter {
 public:
  // With an alignment, a power of two up to 4096, the data of entries starts at multiples of it.
  explicit ZipWriter(const std::filesystem::path& path, size_t alignment = 1);

  void add(const std::string& name, Bytes bytes);
  void add(const std::string& name, std::string_view text) { add(name, as_bytes(text)); }
  // The next entry; it ends when the next one begins. The sink is the writer's.
  Sink& begin(const std::string& name);
  void commit();

 private:
  struct Written {
    std::string name;
    uint64_t header = 0, data = 0, size = 0;
    uint32_t crc = 0;
  };
  class Stream final : public Sink {
   public:
    explicit Stream(ZipWriter& writer) : writer_(writer) {}
    void write(Bytes bytes) override;

   private:
    ZipWriter& writer_;
  };

  std::string local_header(const Written& entry) const;
  void end();
  void write_directory();

  AtomicFile file_;
  size_t alignment_;
  Stream stream_{*this};
  bool open_ = false;
  std::vector<Written> entries_;
  std::map<std::string, size_t> names_;
};

}  // namespace keratin::files
