#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/files/compression.h"
#include "keratin/files/zip.h"
#include "keratin/files/zip_format.h"

namespace keratin::files {
namespace {

struct Directory {
  uint64_t begin = 0, size = 0, count = 0;
};

// The name with slashes: some programs on Windows write backslashes.
std::string portable_name(Bytes bytes) {
  std::string name(as_text(bytes));
  std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

class DirectoryParser {
 public:
  DirectoryParser(const FileView& file, const ZipLimits& limits) : file_(file), limits_(limits) {}

  std::vector<ZipEntry> run() {
    const Directory directory = find_directory();
    check(directory.count <= limits_.entries, "has ", directory.count, " entries, at most ",
          limits_.entries, " are read");
    const FileView view = file_.range(directory.begin, directory.size, "the directory of the zip");
    Cursor at(view.bytes(), file_.name(), "the directory of the zip");
    std::vector<ZipEntry> entries;
    std::vector<uint64_t> headers;
    for (uint64_t i = 0; i < directory.count; ++i) {
      uint64_t header = 0;
      entries.push_back(parse_central(at, header));
      headers.push_back(header);
    }
    check(at.left() == 0, "the directory of the zip is longer than its entries");
    for (size_t i = 0; i < entries.size(); ++i) parse_local(headers[i], entries[i]);
    check_overlaps(headers, entries, directory.begin);
    check_sizes(entries);
    return entries;
  }

 private:
  template <class... Parts>
  void check(bool condition, const Parts&... parts) const {
    require(condition, file_.name(), ": ", parts...);
  }

  // The record at the end of the file, before a comment of at most 64 KiB.
  uint64_t find_end() const {
    check(file_.size() >= zip::end_size, "expected a zip file, got ", file_.size(), " bytes");
    const uint64_t last = file_.size() - zip::end_size;
    for (uint64_t back = 0; back <= std::min<uint64_t>(last, zip::max16); ++back) {
      Cursor at(file_.bytes(), file_.name(), "the end of the zip", last - back);
      if (at.u32() != zip::end_signature) continue;
      at.skip(16);
      if (at.u16() == back) return last - back;
    }
    fail(file_.name(), ": expected a zip file, found no end record");
  }

  Directory find_directory() const {
    const uint64_t end = find_end();
    Cursor at(file_.bytes(), file_.name(), "the end of the zip", end + 4);
    const uint16_t disk = at.u16(), directory_disk = at.u16();
    const uint16_t count_here = at.u16(), count = at.u16();
    Directory directory{.count = count};
    directory.size = at.u32();
    directory.begin = at.u32();
    const bool has64 =
        end >= zip::locator64_size && u32_at(end - zip::locator64_size) == zip::locator64_signature;
    if (has64) return find_directory64(end - zip::locator64_size);
    check(disk == 0 && directory_disk == 0 && count_here == count,
          "the zip is split over several disks, which are not read");
    check_directory(directory, end);
    return directory;
  }

  Directory find_directory64(uint64_t locator) const {
    Cursor at(file_.bytes(), file_.name(), "the zip64 locator", locator + 4);
    const uint32_t disk = at.u32();
    const uint64_t end = at.u64();
    check(disk == 0 && at.u32() <= 1, "the zip is split over several disks, which are not read");
    check(locator >= zip::end64_size && end == locator - zip::end64_size,
          "the zip64 end record is not where it should be");
    Cursor record(file_.bytes(), file_.name(), "the zip64 end record", end);
    check(record.u32() == zip::end64_signature, "the zip64 end record is damaged");
    record.skip(12);
    const uint32_t this_disk = record.u32(), directory_disk = record.u32();
    const uint64_t count_here = record.u64();
    Directory directory;
    directory.count = record.u64();
    directory.size = record.u64();
    directory.begin = record.u64();
    check(this_disk == 0 && directory_disk == 0 && count_here == directory.count,
          "the zip is split over several disks, which are not read");
    check_directory(directory, end);
    return directory;
  }

  void check_directory(const Directory& directory, uint64_t end) const {
    check(directory.begin <= end && directory.size == end - directory.begin,
          "the directory of the zip does not end where the end record begins");
    check(directory.count <= directory.size / zip::central_size, "the zip's directory has ",
          directory.size, " bytes, too few for ", directory.count, " entries");
  }

  uint32_t u32_at(uint64_t at) const {
    return Cursor(file_.bytes(), file_.name(), "a record", at).u32();
  }

  ZipEntry parse_central(Cursor& at, uint64_t& header) const {
    check(at.u32() == zip::central_signature, "the directory of the zip is damaged");
    at.skip(4);
    const uint16_t flags = at.u16(), method = at.u16();
    at.skip(4);
    ZipEntry entry{.crc = at.u32()};
    entry.stored = at.u32();
    entry.size = at.u32();
    const uint16_t name_size = at.u16(), extra_size = at.u16(), comment_size = at.u16();
    const uint16_t disk = at.u16();
    at.skip(6);
    header = at.u32();
    entry.name = portable_name(at.take(name_size));
    const Bytes extra = at.take(extra_size);
    at.skip(comment_size);
    const std::string_view fault = zip::name_fault(entry.name);
    check(fault.empty(), "the name ", in_quotes(entry.name), " in the zip ", fault);
    check((flags & 0x2041) == 0, in_quotes(entry.name), " is encrypted");
    check(method == 0 || method == 8, in_quotes(entry.name), " is compressed by method ", method,
          "; stored and deflated entries are read");
    entry.deflated = method == 8;
    read_zip64(extra, entry, header);
    check(disk == 0, in_quotes(entry.name), " is on another disk of the zip");
    return entry;
  }

  // Numbers that do not fit in 32 bits are in an extra field, in this order.
  void read_zip64(Bytes extra, ZipEntry& entry, uint64_t& header) const {
    const bool wanted =
        entry.size == zip::max32 || entry.stored == zip::max32 || header == zip::max32;
    Cursor at(extra, file_.name(), "an extra field of the zip's directory");
    while (wanted && at.left() >= 4) {
      const uint16_t id = at.u16();
      const Bytes field = at.take(at.u16());
      if (id != zip::zip64_field) continue;
      Cursor number(field, file_.name(), "a zip64 field");
      if (entry.size == zip::max32) entry.size = number.u64();
      if (entry.stored == zip::max32) entry.stored = number.u64();
      if (header == zip::max32) header = number.u64();
      return;
    }
    check(!wanted, in_quotes(entry.name), " lacks its zip64 field");
  }

  void parse_local(uint64_t header, ZipEntry& entry) const {
    Cursor at(file_.bytes(), file_.name(), "an entry of the zip", std::min(header, file_.size()));
    check(at.u32() == zip::local_signature, in_quotes(entry.name),
          " does not begin where the zip says");
    at.skip(2);
    const uint16_t flags = at.u16(), method = at.u16();
    at.skip(16);
    const uint16_t name_size = at.u16(), extra_size = at.u16();
    check(portable_name(at.take(name_size)) == entry.name, in_quotes(entry.name),
          " has another name in its local header");
    check((flags & 0x2041) == 0, in_quotes(entry.name), " is encrypted");
    check(method == (entry.deflated ? 8 : 0), in_quotes(entry.name),
          " has another method in its local header");
    at.skip(extra_size);
    entry.begin = at.at();
    check(entry.stored <= at.left(), in_quotes(entry.name), " is longer than the file");
  }

  void check_overlaps(const std::vector<uint64_t>& headers, const std::vector<ZipEntry>& entries,
                      uint64_t directory) const {
    std::vector<size_t> order(entries.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return headers[a] < headers[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      const ZipEntry& entry = entries[order[i]];
      const uint64_t next = i + 1 < order.size() ? headers[order[i + 1]] : directory;
      check(entry.begin <= next && entry.stored <= next - entry.begin, in_quotes(entry.name),
            " overlaps with the entry or directory after it");
    }
  }

  void check_sizes(const std::vector<ZipEntry>& entries) const {
    uint64_t total = 0;
    for (const ZipEntry& entry : entries) {
      if (!entry.deflated) {
        check(entry.size == entry.stored, in_quotes(entry.name), " is stored, but in ",
              entry.stored, " bytes, not in ", entry.size);
        continue;
      }
      check(entry.size / max_inflation <= entry.stored, in_quotes(entry.name), " claims ",
            entry.size, " bytes, more than ", entry.stored, " can unpack to");
      check_unpacked(entry.size, entry.stored, in_quotes(entry.name));
      total += entry.size;  // cannot overflow: entries do not overlap
    }
    check_unpacked(total, file_.size(), "the zip");
  }

  void check_unpacked(uint64_t size, uint64_t stored, const std::string& who) const {
    check(size <= limits_.unpacked || size / limits_.ratio <= stored, who, " unpacks to ", size,
          " bytes, more than ", limits_.ratio, " times its size");
  }

  const FileView& file_;
  const ZipLimits& limits_;
};

}  // namespace

ZipReader::ZipReader(FileView file, ZipLimits limits)
    : file_(std::move(file)), entries_(DirectoryParser(file_, limits).run()) {
  for (size_t i = 0; i < entries_.size(); ++i)
    require(by_name_.emplace(entries_[i].name, i).second, file_.name(), ": ",
            in_quotes(entries_[i].name), " occurs twice");
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

FileView ZipReader::read(const ZipEntry& entry) const {
  const std::string name = file_.name() + ": " + in_quotes(entry.name);
  FileView contents = file_.range(entry.begin, entry.stored, name);
  if (entry.deflated) {
    const Buffer memory = Buffer::allocate(entry.size);
    require(inflate_into(contents.bytes(), {memory.data(), entry.size}, Deflated::raw), name,
            " is damaged: it does not unpack to ", entry.size, " bytes");
    contents = FileView(name, memory);
  }
  require(crc32(contents.bytes()) == entry.crc, name, " is damaged: its checksum differs");
  return contents;
}

FileView ZipReader::read_text(const ZipEntry& entry) const {
  constexpr uint64_t always_allowed = 16 << 20, ratio = 20;
  require(entry.size <= always_allowed || entry.size / ratio <= entry.stored, file_.name(), ": ",
          in_quotes(entry.name), " unpacks to ", entry.size, " bytes, more than ", ratio,
          " times its size");
  return read(entry);
}

const ZipEntry& ZipReader::at(std::string_view name) const {
  const ZipEntry* entry = find(name);
  require(entry != nullptr, file_.name(), ": the zip has no ", in_quotes(name));
  return *entry;
}

FileView ZipReader::read(std::string_view name) const { return read(at(name)); }
FileView ZipReader::read_text(std::string_view name) const { return read_text(at(name)); }

}  // namespace keratin::files
