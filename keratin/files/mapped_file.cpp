#include "keratin/files/mapped_file.h"
#include "keratin/base/text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace keratin::files {
namespace {

[[noreturn]] void fail_by_system(const std::string& name, std::string_view what) {
  fail(name, ": ", what, ": ", std::generic_category().message(errno));
}

// A file descriptor, closed at the end of its scope; the map stays valid.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

FileView::FileView(std::string name, Buffer buffer) : name_(std::move(name)) {
  auto owner = std::make_shared<Buffer>(std::move(buffer));
  size_ = owner->size();
  memory_ = {owner, owner->data()};
}

FileView FileView::range(uint64_t begin, uint64_t size, std::string name) const {
  require(begin <= size_ && size <= size_ - begin, name_, ": ", name, " lies outside of the file");
  FileView view;
  view.name_ = std::move(name);
  view.memory_ = {memory_, memory_.get() + begin};
  view.mapped_ = mapped_;
  view.size_ = size;
  return view;
}

Tensor FileView::tensor(uint64_t begin, DType dtype, const Shape& shape) const {
  const auto bytes = static_cast<uint64_t>(shape.count()) * size_of(dtype);
  const FileView data = range(begin, bytes, "a tensor");
  if (reinterpret_cast<uintptr_t>(data.memory_.get()) % size_of(dtype) == 0 && bytes > 0)
    return {dtype, shape, Buffer::wrap(data.memory_, bytes)};
  Tensor copy(dtype, shape);
  if (bytes > 0) std::memcpy(copy.raw(), data.memory_.get(), bytes);
  return copy;
}

void FileView::copy_to(std::span<std::byte> out, uint64_t begin) const {
  constexpr size_t max_step = 16 << 20, min_release = 16 << 10;
  const FileView all = range(begin, out.size(), "a tensor");
  for (size_t done = 0; done < out.size(); done += max_step) {
    const FileView step = all.range(done, std::min(max_step, out.size() - done), name_);
    std::memcpy(out.data() + done, step.bytes().data(), step.size());
    if (step.size() >= min_release) step.release_pages();
  }
}

void FileView::release_pages() const {
  if (!mapped_ || size_ == 0) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory_.get());
  const uintptr_t first = begin / page * page;  // a map begins at a page
  ::madvise(reinterpret_cast<void*>(first), begin + size_ - first, MADV_DONTNEED);
}

FileView map_file(const std::filesystem::path& path) {
  FileView view;
  view.name_ = path.string();
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) fail_by_system(view.name_, "the file cannot be opened");
  struct stat facts {};
  if (::fstat(file.number, &facts) != 0) fail_by_system(view.name_, "the file cannot be read");
  require(S_ISREG(facts.st_mode), view.name_, ": expected a regular file");
  view.size_ = static_cast<uint64_t>(facts.st_size);
  if (view.size_ == 0) return view;
  void* memory = ::mmap(nullptr, view.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                        file.number, 0);
  if (memory == MAP_FAILED) fail_by_system(view.name_, "the file cannot be mapped");
  view.mapped_ = true;
  const size_t size = view.size_;
  view.memory_ = {static_cast<std::byte*>(memory), [size](std::byte* m) { ::munmap(m, size); }};
  return view;
}

}  // namespace keratin::files
