#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using files::as_text;

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

struct Range {
  uint64_t begin = 0, size = 0;
};

// Collects a message, or the range of a continuation, which has further messages of the header.
void collect(const Source& source, MessageType type, bool shared, Bytes data,
             std::vector<Message>& messages, std::vector<Range>& todo) {
  if (type != MessageType::continuation) {
    messages.push_back({type, shared, data});
    return;
  }
  Cursor at = source.cursor(data, "a continuation of an object header");
  const uint64_t begin = at.u64();
  todo.push_back({begin, at.u64()});
}

// IV.A.1.a: version 1 of object headers.
std::vector<Message> read_header_v1(const Source& source, uint64_t address) {
  Cursor prefix = source.cursor(source.take(address, 16, "an object header"), "an object header");
  prefix.skip(8);
  std::vector<Range> todo = {{address + 16, prefix.u32()}};
  std::vector<Message> messages;
  for (size_t next = 0; next < todo.size(); ++next) {
    const Bytes bytes = source.take(todo[next].begin, todo[next].size, "an object header");
    Cursor at = source.cursor(bytes, "a message of an object header");
    while (at.left() >= 8) {
      const auto type = static_cast<MessageType>(at.u16());
      const uint16_t size = at.u16();
      const uint8_t flags = at.u8();
      at.skip(3);
      collect(source, type, (flags & 2) != 0, at.take(size), messages, todo);
    }
  }
  return messages;
}

void read_messages_v2(const Source& source, Cursor at, uint8_t flags,
                      std::vector<Message>& messages, std::vector<Range>& todo) {
  const bool has_order = (flags & 4) != 0;
  const uint64_t fixed = has_order ? 6 : 4;
  while (at.left() >= fixed) {
    const auto type = static_cast<MessageType>(at.u8());
    const uint16_t size = at.u16();
    const uint8_t message_flags = at.u8();
    if (has_order) at.skip(2);
    collect(source, type, (message_flags & 2) != 0, at.take(size), messages, todo);
  }
}

// IV.A.1.b: version 2 of object headers.
std::vector<Message> read_header_v2(const Source& source, uint64_t address) {
  Cursor prefix = source.peek(address, "an object header");
  prefix.skip(4);
  const uint8_t version = prefix.u8(), flags = prefix.u8();
  source.check(version == 2, "version ", int{version}, " of an object header is not read");
  if ((flags & 0x20) != 0) prefix.skip(16);
  if ((flags & 0x10) != 0) prefix.skip(4);
  const uint64_t size = prefix.unsigned_of(size_t{1} << (flags & 3));
  const uint64_t before = prefix.at() - address;
  source.check(size <= source.file().size(), "an object header is longer than the file");
  const Bytes first = source.take_checked(address, before + size + 4, "an object header");
  std::vector<Message> messages;
  std::vector<Range> todo;
  read_messages_v2(source, source.cursor(first.subspan(before, size), "an object header"), flags,
                   messages, todo);
  for (size_t next = 0; next < todo.size(); ++next) {
    const Range range = todo[next];
    const Bytes bytes = source.take_checked(range.begin, range.size, "an object header");
    source.check(range.size >= 8 && as_text(bytes.first(4)) == "OCHK",
                 "a continuation of an object header is damaged");
    read_messages_v2(source, source.cursor(bytes.subspan(4, range.size - 8), "an object header"),
                     flags, messages, todo);
  }
  return messages;
}

// II.A: versions 0 and 1 of the superblock.
uint64_t read_superblock_v0(const Source& source, Cursor at, uint8_t version) {
  at.skip(4);
  const uint8_t offset_size = at.u8(), length_size = at.u8();
  source.check(offset_size == 8 && length_size == 8, "addresses of ", int{offset_size}, " and ",
               int{length_size}, " bytes are not read, only those of 8");
  at.skip(1 + 4 + 4 + (version == 1 ? 4 : 0));
  source.check(at.u64() == 0, "the HDF5 file begins inside another, which is not read");
  at.skip(8);
  source.check(at.u64() <= source.file().size(), "the file is shorter than its superblock says");
  at.skip(8 + 8);
  return at.u64();
}

uint64_t read_superblock_v2(const Source& source, Cursor at) {
  const uint8_t offset_size = at.u8(), length_size = at.u8();
  source.check(offset_size == 8 && length_size == 8, "addresses of ", int{offset_size}, " and ",
               int{length_size}, " bytes are not read, only those of 8");
  at.skip(1);
  source.check(at.u64() == 0, "the HDF5 file begins inside another, which is not read");
  at.skip(8);
  source.check(at.u64() <= source.file().size(), "the file is shorter than its superblock says");
  const uint64_t root = at.u64();
  source.take_checked(0, at.at() + 4, "the superblock");
  return root;
}

}  // namespace

Bytes Source::take(uint64_t address, uint64_t size, std::string_view what) const {
  check(address != undefined_address, what, " is missing");
  check(address <= file_.size() && size <= file_.size() - address, "the file ends inside ", what);
  check(size <= left_, "the structures of the file overlap");
  left_ -= size;
  return file_.bytes().subspan(address, size);
}

Bytes Source::take_checked(uint64_t address, uint64_t size, std::string_view what) const {
  const Bytes bytes = take(address, size, what);
  check(size >= 4, what, " is too short for its checksum");
  const uint32_t stored = cursor(bytes.last(4), what).u32();
  check(!limits_.checksums || stored == lookup3(bytes.first(size - 4)), what,
        " is damaged: its checksum differs");
  return bytes;
}

const Message* find_message(const std::vector<Message>& messages, MessageType type) {
  for (const Message& message : messages)
    if (message.type == type) return &message;
  return nullptr;
}

std::vector<Message> read_header(const Source& source, uint64_t address) {
  Cursor at = source.peek(address, "an object header");
  const Bytes start = at.take(4);
  if (as_text(start) == "OHDR") return read_header_v2(source, address);
  const auto version = std::to_integer<int>(start[0]);
  source.check(version == 1, "an object header is damaged, or of version ", version);
  return read_header_v1(source, address);
}

uint64_t read_superblock(const Source& source) {
  source.check(source.file().size() >= 48, "expected an HDF5 file, got ", source.file().size(),
               " bytes");
  Cursor at = source.peek(0, "the superblock");
  source.check(as_text(at.take(8)) == signature, "expected an HDF5 file");
  const uint8_t version = at.u8();
  source.check(version <= 3, "version ", int{version}, " of the superblock is not read");
  return version < 2 ? read_superblock_v0(source, at, version) : read_superblock_v2(source, at);
}

}  // namespace keratin::hdf5
