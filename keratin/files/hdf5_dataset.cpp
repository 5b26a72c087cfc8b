#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

const Message& require_message(const Source& source, const std::vector<Message>& messages,
                               MessageType type, const std::string& who) {
  const Message* message = find_message(messages, type);
  source.check(message != nullptr, who, " lacks a message of its header");
  source.check(!message->shared, who, " has a committed datatype, which is not read");
  return *message;
}

}  // namespace

// IV.A.2.i: the layout message.
StoredDataset parse_dataset(const Source& source, const std::vector<Message>& messages,
                            const std::string& who) {
  source.check(find_message(messages, MessageType::external_files) == nullptr, who,
               " has its data in another file, which is not read");
  StoredDataset out;
  Cursor type_at = source.cursor(require_message(source, messages, MessageType::datatype, who).data,
                                 "a datatype");
  out.type = parse_datatype(source, type_at, who);
  Cursor space_at = source.cursor(
      require_message(source, messages, MessageType::dataspace, who).data, "a dataspace");
  out.space = parse_dataspace(source, space_at, who);
  source.check(!out.space.null, who, " has no value");
  source.check(out.type.size > 0, who, " has elements without a size");
  uint64_t bytes = 0;
  source.check(!__builtin_mul_overflow(out.space.count, uint64_t{out.type.size}, &bytes), who,
               " has more elements than a tensor can have");

  const Bytes layout = require_message(source, messages, MessageType::layout, who).data;
  Cursor at = source.cursor(layout, "the layout of a dataset");
  const uint8_t version = at.u8(), kind = at.u8();
  source.check(version == 3 || version == 4, who, " has a layout of version ", int{version},
               ", which is not read");
  source.check(kind <= 2, who, " has virtual storage, which is not read");
  if (kind == 2) {
    out.chunked = true;
    out.messages = messages;
    return out;
  }
  source.check(find_message(messages, MessageType::filters) == nullptr, who,
               " has filters without chunks");
  uint64_t begin = 0, size = 0;
  if (kind == 0) {
    size = at.u16();
    begin = static_cast<uint64_t>(at.take(size).data() - source.file().bytes().data());
  } else {
    begin = at.u64();
    size = at.u64();
  }
  if (bytes == 0) return out;
  source.check(begin != undefined_address, who, " claims ", bytes, " bytes, but has no data");
  source.check(size == bytes, who, " claims ", bytes, " bytes, but has ", size);
  source.check(begin <= source.file().size() && size <= source.file().size() - begin, who,
               " claims ", bytes, " bytes, more than the file has");
  out.begin = begin;
  return out;
}

}  // namespace keratin::hdf5
