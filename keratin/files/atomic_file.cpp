#include "keratin/files/atomic_file.h"
#include "keratin/base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace keratin::files {
namespace {

constexpr size_t buffer_size = size_t{1} << 20;

// A symbolic link stays a link: its target is the file that is replaced.
std::filesystem::path resolve_links(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real;
}

// Creates a temporary file beside the path. Files that exist already, left by a crash or by another
// program, are not touched.
int open_temporary(const std::filesystem::path& path, std::filesystem::path& temporary) {
  static std::atomic<uint64_t> count = 0;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary = path.string() + text(".part-", ::getpid(), "-", count++);
    const int file = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// Syncs the folder of a renamed file, so that the rename survives a crash. Some file systems cannot
// do this; the error is ignored.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : name_(path.string()), path_(resolve_links(path)) {
  require(path_.has_filename() && !std::filesystem::is_directory(path_), name_,
          ": expected the path of a file to write");
  file_ = open_temporary(path_, temporary_);
  if (file_ < 0) fail_by_system("cannot be written");
  match_mode();
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

// Gives the new file the permissions of the old one.
void AtomicFile::match_mode() {
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0 && S_ISREG(old.st_mode))
    ::fchmod(file_, old.st_mode & 07777);
}

void AtomicFile::fail_by_system(std::string_view what) const {
  fail(name_, ": ", what, ": ", std::generic_category().message(errno));
}

void MemoryFile::rewrite(uint64_t at, Bytes bytes) {
  ensure(at <= size() && bytes.size() <= size() - at, "MemoryFile: rewrites bytes past its end");
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
}

void AtomicFile::write(Bytes bytes) {
  if (pending_.size() + bytes.size() <= buffer_size) {
    pending_.append(as_text(bytes));
    return;
  }
  flush();
  if (bytes.size() <= buffer_size) {
    pending_.append(as_text(bytes));
    return;
  }
  write_now(written_, bytes);
  written_ += bytes.size();
}

void AtomicFile::rewrite(uint64_t at, Bytes bytes) {
  ensure(at <= size() && bytes.size() <= size() - at, "AtomicFile: rewrites bytes past its end");
  flush();
  write_now(at, bytes);
}

void AtomicFile::flush() {
  write_now(written_, as_bytes(pending_));
  written_ += pending_.size();
  pending_.clear();
}

void AtomicFile::write_now(uint64_t at, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_by_system("cannot be written");
    at += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

void AtomicFile::commit() {
  ensure(file_ >= 0, "AtomicFile: committed twice");
  flush();
  if (::fsync(file_) != 0) fail_by_system("cannot be synced to disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail_by_system("cannot be renamed from its temporary file");
  ::close(file_);
  file_ = -1;
  sync_folder(path_);
}

}  // namespace keratin::files
