#include <bit>

#include "keratin/base/text.h"
#include "keratin/files/compression.h"
#include "keratin/files/zip.h"
#include "keratin/files/zip_format.h"

namespace keratin::files {
namespace {

constexpr uint16_t zip64_extra_size = 4 + 16;  // room for two numbers, used or not
constexpr uint32_t no_date = 0x00210000;       // 1980-01-01, so that equal models give equal files

uint32_t narrow(uint64_t number) {
  return number >= zip::max32 ? zip::max32 : static_cast<uint32_t>(number);
}

// The fields that the local and the central header of an entry share.
void pack_common(Packer& out, bool zip64, uint32_t crc, uint32_t size, size_t name_size,
                 size_t extra_size) {
  out.u16(zip64 ? 45 : 20).u16(0x800);  // the version needed to read it; names are UTF-8
  out.u16(0).u32(no_date).u32(crc).u32(size).u32(size);
  out.u16(static_cast<uint16_t>(name_size)).u16(static_cast<uint16_t>(extra_size));
}

}  // namespace

ZipWriter::ZipWriter(const std::filesystem::path& path, size_t alignment)
    : owned_(std::make_unique<AtomicFile>(path)), file_(*owned_), alignment_(alignment) {
  ensure(std::has_single_bit(alignment) && alignment <= 4096, "ZipWriter: alignment ", alignment);
}

ZipWriter::ZipWriter(OutputFile& file, size_t alignment) : file_(file), alignment_(alignment) {
  ensure(std::has_single_bit(alignment) && alignment <= 4096, "ZipWriter: alignment ", alignment);
}

// The header has sizes of 0 until the entry ends, and then is rewritten in place. Room for a zip64
// field is always reserved; small entries fill it with padding.
std::string ZipWriter::local_header(const Written& entry) const {
  const bool zip64 = entry.size >= zip::max32;
  const uint64_t fixed = entry.header + zip::local_size + entry.name.size() + zip64_extra_size;
  const uint64_t padding =
      alignment_ == 1 ? 0 : 4 + (alignment_ - (fixed + 4) % alignment_) % alignment_;
  Packer out;
  out.u32(zip::local_signature);
  pack_common(out, zip64, entry.crc, zip64 ? zip::max32 : narrow(entry.size), entry.name.size(),
              zip64_extra_size + padding);
  out.put(entry.name);
  if (zip64)
    out.u16(zip::zip64_field).u16(16).u64(entry.size).u64(entry.size);
  else
    out.u16(zip::padding_field).u16(16).zeros(16);
  if (padding > 0)
    out.u16(zip::padding_field).u16(static_cast<uint16_t>(padding - 4)).zeros(padding - 4);
  return out.bytes();
}

void ZipWriter::add(const std::string& name, Bytes bytes) { begin(name).write(bytes); }

Sink& ZipWriter::begin(const std::string& name) {
  if (open_) end();
  const std::string_view fault = zip::name_fault(name);
  require(fault.empty() && name.size() < zip::max16, file_.name(), ": the name ", in_quotes(name),
          " ", fault.empty() ? "is too long" : fault);
  require(names_.emplace(name, entries_.size()).second, file_.name(), ": ", in_quotes(name),
          " is written twice");
  Written entry{.name = name, .header = file_.size()};
  const std::string header = local_header(entry);
  entry.data = entry.header + header.size();
  file_.write(as_bytes(header));
  entries_.push_back(entry);
  open_ = true;
  return stream_;
}

void ZipWriter::Stream::write(Bytes bytes) {
  Written& entry = writer_.entries_.back();
  entry.crc = crc32(bytes, entry.crc);
  entry.size += bytes.size();
  writer_.file_.write(bytes);
}

void ZipWriter::end() {
  file_.rewrite(entries_.back().header, as_bytes(local_header(entries_.back())));
  open_ = false;
}

void ZipWriter::write_directory() {
  const uint64_t begin = file_.size();
  for (const Written& entry : entries_) {
    const bool far = entry.header >= zip::max32, large = entry.size >= zip::max32;
    Packer extra;
    if (large) extra.u64(entry.size).u64(entry.size);
    if (far) extra.u64(entry.header);
    const size_t extra_size = extra.size() == 0 ? 0 : 4 + extra.size();
    Packer out;
    out.u32(zip::central_signature).u16(45);
    pack_common(out, far || large, entry.crc, narrow(entry.size), entry.name.size(), extra_size);
    out.u16(0).u16(0).u16(0).u32(0).u32(narrow(entry.header)).put(entry.name);
    if (extra_size > 0)
      out.u16(zip::zip64_field).u16(static_cast<uint16_t>(extra.size())).put(extra.bytes());
    file_.write(as_bytes(out.bytes()));
  }
  const uint64_t end = file_.size(), size = end - begin, count = entries_.size();
  Packer out;
  if (count >= zip::max16 || size >= zip::max32 || begin >= zip::max32) {
    out.u32(zip::end64_signature).u64(zip::end64_size - 12).u16(45).u16(45).u32(0).u32(0);
    out.u64(count).u64(count).u64(size).u64(begin);
    out.u32(zip::locator64_signature).u32(0).u64(end).u32(1);
  }
  const auto short_count = static_cast<uint16_t>(std::min<uint64_t>(count, zip::max16));
  out.u32(zip::end_signature).u16(0).u16(0).u16(short_count).u16(short_count);
  out.u32(narrow(size)).u32(narrow(begin)).u16(0);
  file_.write(as_bytes(out.bytes()));
}

void ZipWriter::commit() {
  if (open_) end();
  write_directory();
  file_.commit();
}

}  // namespace keratin::files
