#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "keratin/files/bytes.h"

namespace keratin::files {

// Receives a writer's bytes, in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(Bytes bytes) = 0;
};

// A file that is being written, on disk or in memory.
class OutputFile : public Sink {
 public:
  virtual const std::string& name() const = 0;
  virtual uint64_t size() const = 0;
  // Overwrites bytes that were written before, such as a length that is known only later.
  virtual void rewrite(uint64_t at, Bytes bytes) = 0;
  virtual void commit() = 0;
};

// A file in memory.
class MemoryFile final : public OutputFile {
 public:
  explicit MemoryFile(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void rewrite(uint64_t at, Bytes bytes) override;
  void commit() override {}
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::string name_;
  std::vector<std::byte> bytes_;
};

// A file that appears whole or not at all: it is written to a temporary file beside its path, which
// `commit` syncs to disk and renames. A crash, a full disk or an exception leaves the old file.
class AtomicFile final : public OutputFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return written_ + pending_.size(); }
  void write(Bytes bytes) override;
  void rewrite(uint64_t at, Bytes bytes) override;
  void commit() override;

 private:
  void flush();
  void write_now(uint64_t at, Bytes bytes);
  void match_mode();
  [[noreturn]] void fail_by_system(std::string_view what) const;

  std::string name_;                 // as the caller gave it
  std::filesystem::path path_;       // with symbolic links resolved
  std::filesystem::path temporary_;  // beside `path_`, renamed to it by `commit`
  int file_ = -1;
  uint64_t written_ = 0;
  std::string pending_;  // small writes are buffered here
};

}  // namespace keratin::files
