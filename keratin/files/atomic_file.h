#pragma once

#include <filesystem>
#include <string>

#include "keratin/files/bytes.h"

namespace keratin::files {

// Receives a writer's bytes, in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(Bytes bytes) = 0;
};

// A file that appears whole or not at all: it is written to a temporary file beside its path, which
// `commit` syncs to disk and renames. A crash, a full disk or an exception leaves the old file.
class AtomicFile final : public Sink {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& name() const { return name_; }
  uint64_t size() const { return written_ + pending_.size(); }
  void write(Bytes bytes) override;
  // Overwrites bytes that were written before, such as a length that is known only later.
  void rewrite(uint64_t at, Bytes bytes);
  void commit();

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
