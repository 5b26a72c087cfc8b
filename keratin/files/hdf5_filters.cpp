#include <algorithm>

#include "keratin/files/compression.h"
#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

// Bytes of a chunk between two filters.
struct FilterData {
  Buffer owner;  // empty while the bytes are those of the file
  Bytes bytes;
};

FilterData owned(const Buffer& buffer) { return {buffer, {buffer.data(), buffer.size()}}; }

// Undoes the shuffle filter, which stores the first bytes of all elements, then the second ones, …
FilterData unshuffle(Bytes shuffled, uint64_t element) {
  const Buffer out = Buffer::allocate(shuffled.size());
  const uint64_t count = shuffled.size() / element;
  for (uint64_t i = 0; i < count; ++i)
    for (uint64_t byte = 0; byte < element; ++byte)
      out.data()[i * element + byte] = shuffled[byte * count + i];
  const uint64_t done = count * element;  // bytes after the last whole element are not shuffled
  std::copy(shuffled.begin() + static_cast<std::ptrdiff_t>(done), shuffled.end(),
            out.data() + done);
  return owned(out);
}

}  // namespace

// IV.A.2.l: the filter pipeline message.
std::vector<Filter> read_filters(const Source& source, const std::vector<Message>& messages,
                                 const std::string& who) {
  std::vector<Filter> filters;
  const Message* message = find_message(messages, MessageType::filters);
  if (message == nullptr) return filters;
  Cursor at = source.cursor(message->data, "the filters of a dataset");
  const uint8_t version = at.u8(), count = at.u8();
  source.check(version == 1 || version == 2, who, " has filters of unknown version ", int{version});
  if (version == 1) at.skip(6);
  for (int i = 0; i < count; ++i) {
    const uint16_t id = at.u16();
    source.check(id >= 1 && id <= 3, who, " has the filter ", id,
                 "; deflate (1), shuffle (2) and fletcher32 (3) are read");
    const uint16_t name_size = version == 1 ? at.u16() : uint16_t{0};
    at.skip(2);
    const uint16_t values = at.u16();
    at.skip(name_size + uint64_t{4} * values + (version == 1 && values % 2 == 1 ? 4 : 0));
    filters.push_back({static_cast<Filter::Kind>(id)});
  }
  const auto times = std::count_if(filters.begin(), filters.end(),
                                   [](const Filter& f) { return f.kind == Filter::Kind::deflate; });
  source.check(times <= 1, who, " is deflated twice, which is not read");
  return filters;
}

Buffer unfilter(const Source& source, const std::vector<Filter>& filters, const Chunk& chunk,
                uint64_t bytes, uint64_t element, const std::string& who) {
  using Kind = Filter::Kind;
  FilterData data{{}, source.file().bytes().subspan(chunk.address, chunk.size)};
  const auto applied = [&](size_t i) { return i >= 32 || (chunk.skipped >> i & 1) == 0; };
  for (size_t i = filters.size(); i-- > 0;) {
    if (!applied(i)) continue;
    if (filters[i].kind == Kind::shuffle) {
      data = unshuffle(data.bytes, element);
    } else if (filters[i].kind == Kind::fletcher32) {
      source.check(data.bytes.size() >= 4, who, " has a chunk without its checksum");
      const Bytes content = data.bytes.first(data.bytes.size() - 4);
      const uint32_t stored = source.cursor(data.bytes.last(4), "a checksum").u32();
      source.check(!source.limits().checksums || stored == fletcher32(content), who,
                   " has a damaged chunk: its checksum differs");
      data.bytes = content;
    } else {
      uint64_t size = bytes;  // with the checksums of filters that ran before this one
      for (size_t j = 0; j < i; ++j)
        if (applied(j) && filters[j].kind == Kind::fletcher32) size += 4;
      source.check(size / files::max_inflation <= data.bytes.size(), who, " claims a chunk of ",
                   size, " bytes, more than ", data.bytes.size(), " can unpack to");
      const Buffer out = Buffer::allocate(size);
      source.check(files::inflate_into(data.bytes, {out.data(), size}, files::Deflated::zlib), who,
                   " has a damaged chunk: it does not unpack to ", size, " bytes");
      data = owned(out);
    }
  }
  source.check(data.bytes.size() == bytes, who, " has a chunk of ", data.bytes.size(),
               " bytes instead of ", bytes);
  if (data.owner.data() == data.bytes.data()) return data.owner;
  Buffer out = Buffer::allocate(bytes);
  std::memcpy(out.data(), data.bytes.data(), bytes);
  return out;
}

}  // namespace keratin::hdf5
