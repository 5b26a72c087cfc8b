#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using files::as_text;

// The string without its padding.
std::string_view without_padding(std::string_view text, Datatype::Padding padding) {
  using enum Datatype::Padding;
  if (padding == null_terminated) return text.substr(0, text.find('\0'));
  const size_t last = text.find_last_not_of(padding == null_padded ? '\0' : ' ');
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

void read_collection(const Source& source, uint64_t address,
                     std::map<std::pair<uint64_t, uint32_t>, Bytes>& objects) {
  Cursor head = source.peek(address, "a global heap");
  source.check(as_text(head.take(4)) == "GCOL" && head.u8() == 1, "a global heap is damaged");
  head.skip(3);
  const uint64_t size = head.u64();
  Cursor at = source.cursor(source.take(address, size, "a global heap"), "a global heap");
  at.skip(16);
  while (at.left() >= 16) {
    const uint16_t index = at.u16();
    if (index == 0) break;  // free from here on
    at.skip(6);
    objects.emplace(std::pair(address, index), at.take(at.u64()));
    if (at.left() >= 8) at.skip_padding(8);
  }
}

}  // namespace

Bytes GlobalHeap::find(const Source& source, uint64_t address, uint32_t index) {
  if (read_.insert(address).second) read_collection(source, address, objects_);
  const auto found = objects_.find({address, index});
  source.check(found != objects_.end(), "a global heap has no object ", index);
  return found->second;
}

std::vector<std::string> decode_strings(const Source& source, GlobalHeap& heap, Bytes raw,
                                        const Datatype& type, uint64_t count,
                                        const std::string& who) {
  std::vector<std::string> strings;
  Cursor at = source.cursor(raw, "strings");
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (type.kind == Datatype::Kind::string) {
      strings.emplace_back(without_padding(as_text(at.take(type.size)), type.padding));
      continue;
    }
    const uint32_t length = at.u32();
    const uint64_t address = at.u64();
    const uint32_t index = at.u32();
    total += length;  // strings of a sound file do not overlap
    source.check(total <= source.file().size(), who, " has strings longer than the file");
    const Bytes found = length == 0 ? Bytes{} : heap.find(source, address, index);
    source.check(length <= found.size(), who, " has a string longer than its object in the heap");
    strings.emplace_back(as_text(found.first(length)));
  }
  return strings;
}

// IV.A.2.m
StoredAttribute parse_attribute(const Source& source, Bytes data) {
  Cursor at = source.cursor(data, "an attribute");
  StoredAttribute out{.version = at.u8()};
  source.check(out.version >= 1 && out.version <= 3, "an attribute has the unknown version ",
               int{out.version});
  const uint8_t flags = at.u8();
  const uint16_t name_size = at.u16();
  out.type_size = at.u16();
  out.space_size = at.u16();
  if (out.version == 3) at.skip(1);
  std::string_view name = as_text(at.take(name_size));
  if (out.version == 1) at.skip_padding(8);
  name = name.substr(0, name.find('\0'));
  source.check(!name.empty(), "an attribute has no name");
  source.check(out.version == 1 || (flags & 3) == 0, "the attribute ", files::in_quotes(name),
               " has a committed datatype, which is not read");
  out.name = name;
  out.type_and_on = at.take(at.left());
  return out;
}

Value decode_attribute(const Source& source, GlobalHeap& heap, const StoredAttribute& attribute,
                       const std::string& who) {
  Cursor at = source.cursor(attribute.type_and_on, "an attribute");
  const auto next = [&](uint16_t size) {
    const Bytes bytes = at.take(size);
    if (attribute.version == 1) at.skip((8 - size % 8) % 8);
    return source.cursor(bytes, "an attribute");
  };
  Cursor type_at = next(attribute.type_size), space_at = next(attribute.space_size);
  const Datatype type = parse_datatype(source, type_at, who);
  const Dataspace space = parse_dataspace(source, space_at, who);
  source.check(!space.null, who, " has no value");
  source.check(type.size == 0 || space.count <= at.left() / type.size, who, " claims ", space.count,
               " elements of ", type.size, " bytes, more than it has");
  source.check(type.size > 0 || space.count <= 1, who, " has many strings without a length");
  const Bytes raw = at.take(space.count * type.size);
  if (type.is_string())
    return {space.dims, decode_strings(source, heap, raw, type, space.count, who)};
  return Value(decode_numbers(raw, type, Shape(space.dims), source.name() + ": " + who));
}

}  // namespace keratin::hdf5
