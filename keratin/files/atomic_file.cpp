#include "keratin/files/atomic_file.h"
#include "keratin/base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace keratin::files {
namespace {

constexpr size_t gathered = size_t{1} << 20;

// A link stays a link: the file behind it is the one that changes.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real;
}

// A name beside the path that nobody has; what lies there already, left by a crash or laid by
// someone else, stays as it is.
int open_beside(const std::filesystem::path& path, std::filesystem::path& beside) {
  static std::atomic<uint64_t> count = 0;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    beside = path.string() + text(".part-", ::getpid(), "-", count++);
    const int file = ::open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// A rename is on the disk when its folder is. Some file systems refuse; nothing can be done then.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : name_(path.string()), path_(behind_links(path)) {
  require(path_.has_filename() && !std::filesystem::is_directory(path_), name_,
          ": expected the path of a file to write");
  file_ = open_beside(path_, beside_);
  if (file_ < 0) fail_by_system("cannot be written");
  match_mode();
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(beside_.c_str());
}

// Whoever could read the old file can read the new one.
void AtomicFile::match_mode() {
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0 && S_ISREG(old.st_mode))
    ::fchmod(file_, old.st_mode & 07777);
}

void AtomicFile::fail_by_system(std::string_view what) const {
  fail(name_, ": ", what, ": ", std::generic_category().message(errno));
}

void AtomicFile::write(Bytes bytes) {
  if (pending_.size() + bytes.size() <= gathered) {
    pending_.append(as_text(bytes));
    return;
  }
  flush();
  if (bytes.size() <= gathered) {
    pending_.append(as_text(bytes));
    return;
  }
  write_now(written_, bytes);
  written_ += bytes.size();
}

void AtomicFile::rewrite(uint64_t at, Bytes bytes) {
  ensure(at <= size() && bytes.size() <= size() - at, "AtomicFile: rewrites what is not there");
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
  if (::fsync(file_) != 0) fail_by_system("cannot be brought to the disk");
  if (::rename(beside_.c_str(), path_.c_str()) != 0) fail_by_system("cannot be moved into place");
  ::close(file_);
  file_ = -1;
  sync_folder(path_);
}

}  // namespace keratin::files
