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

// Limits on what a zip may unpack to. Without them, few hostile bytes could fill the memory.
struct ZipLimits {
  uint64_t entries = 1 << 20;
  // An entry, and all entries together, may unpack to the larger of this size and `ratio` times
  // their size in the file.
  uint64_t unpacked = uint64_t{256} << 20;
  uint64_t ratio = 100;
};

// Reads zip files with stored and deflated entries, and zip64. The whole directory is checked when
// the file is opened: names that lead out of the zip or occur twice, overlapping or encrypted
// entries and impossible sizes are refused.
class ZipReader {
 public:
  explicit ZipReader(FileView file, ZipLimits limits = {});

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;
  // The contents, after checking the checksum: a range of the file, or unpacked memory.
  FileView read(const ZipEntry& entry) const;
  FileView read(std::string_view name) const;
  // The contents of JSON or other text. Once parsed it needs far more memory, so it may unpack to
  // 16 MiB, or to 20 times its size.
  FileView read_text(const ZipEntry& entry) const;
  FileView read_text(std::string_view name) const;

 private:
  const ZipEntry& at(std::string_view name) const;  // an error if there is no such entry

  FileView file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

// Writes a zip of stored entries. The size of an entry need not be known before it is written.
class ZipWriter {
 public:
  // The data of each entry starts at a multiple of `alignment`, a power of two up to 4096.
  explicit ZipWriter(const std::filesystem::path& path, size_t alignment = 1);
  // Writes into a file that outlives it.
  explicit ZipWriter(OutputFile& file, size_t alignment = 1);

  void add(const std::string& name, Bytes bytes);
  void add(const std::string& name, std::string_view text) { add(name, as_bytes(text)); }
  // Begins the next entry, which ends when another begins. The writer owns the sink.
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

  std::unique_ptr<OutputFile> owned_;
  OutputFile& file_;
  size_t alignment_;
  Stream stream_{*this};
  bool open_ = false;
  std::vector<Written> entries_;
  std::map<std::string, size_t> names_;
};

}  // namespace keratin::files
