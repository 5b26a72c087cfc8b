#include <zlib.h>

#include "keratin/files/hdf5_source.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::hdf5 {
namespace {

using files::bytes_of;
using files::complaint;
using files::in_memory;
using files::Packer;
using keratin::testing::expect_user_error;

constexpr uint64_t first_object = 96;  // after the superblock

struct RawMessage {
  int type;
  std::string data;
  uint8_t flags = 0;
};

// Makes HDF5 files with wrong contents: objects one after the other, with the superblock in front.
class Crafted {
 public:
  uint64_t next() const { return first_object + body_.size(); }
  uint64_t raw(const std::string& bytes) {
    const uint64_t address = next();
    body_.put(bytes).pad(8);
    return address;
  }
  uint64_t object(const std::vector<RawMessage>& messages) {
    Packer packed;
    for (const RawMessage& message : messages) {
      const size_t padded = (message.data.size() + 7) / 8 * 8;
      packed.u16(static_cast<uint16_t>(message.type)).u16(static_cast<uint16_t>(padded));
      packed.u8(message.flags).zeros(3).put(message.data).pad(8);
    }
    Packer header;
    header.u8(1).u8(0).u16(static_cast<uint16_t>(messages.size())).u32(1);
    header.u32(static_cast<uint32_t>(packed.size())).u32(0).put(packed.bytes());
    return raw(header.bytes());
  }
  std::string finish(uint64_t root) const {
    Packer file;
    file.put("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0).u16(4).u16(16).u32(0);
    file.u64(0)
        .u64(undefined_address)
        .u64(next())
        .u64(undefined_address)
        .u64(0)
        .u64(root)
        .zeros(24);
    return file.put(body_.bytes()).bytes();
  }

 private:
  Packer body_;
};

RawMessage link(const std::string& name, uint64_t address, int type = 0) {
  Packer out;
  out.u8(1).u8(8).u8(static_cast<uint8_t>(type)).u8(static_cast<uint8_t>(name.size()));
  return {6, out.put(name).u64(address).bytes()};
}

RawMessage space(const std::vector<uint64_t>& dims) {
  Packer out;
  out.u8(1).u8(static_cast<uint8_t>(dims.size())).u8(0).zeros(5);
  for (const uint64_t dim : dims) out.u64(dim);
  return {1, out.bytes()};
}

std::string type_bytes(int kind, uint32_t size, uint32_t flags = 0) {
  Packer out;
  out.u32(static_cast<uint32_t>(0x10 | kind) | flags << 8).u32(size);
  return out.u16(0).u16(static_cast<uint16_t>(size * 8)).zeros(8).bytes();
}
RawMessage type(int kind = 0, uint32_t size = 4, uint32_t flags = 8) {
  return {3, type_bytes(kind, size, flags)};
}

RawMessage contiguous(uint64_t address, uint64_t size, int kind = 1, int version = 3) {
  Packer out;
  out.u8(static_cast<uint8_t>(version)).u8(static_cast<uint8_t>(kind)).u64(address).u64(size);
  return {8, out.bytes()};
}

// Every group, attribute and dataset.
void read_all(const std::string& bytes, Limits limits = {}) {
  const File file(in_memory(bytes), limits);
  std::vector<Group> todo = {file.root()};
  const auto read_attributes = [](const Object& object) {
    for (const std::string& name : object.attribute_names()) object.attribute(name);
  };
  while (!todo.empty()) {
    const Group group = todo.back();
    todo.pop_back();
    read_attributes(group);
    for (const std::string& name : group.names()) {
      if (group.has_group(name)) todo.push_back(group.group(name));
      if (!group.has_dataset(name)) continue;
      read_attributes(group.dataset(name));
      group.dataset(name).value();
    }
  }
}

void refuses(const std::string& bytes, const std::string& why, Limits limits = {}) {
  expect_user_error([&] { read_all(bytes, limits); }, {"test file", why});
}

// A file whose only dataset 'd' has these messages.
std::string with_dataset(const std::vector<RawMessage>& messages) {
  Crafted file;
  const uint64_t dataset = file.object(messages);
  return file.finish(file.object({link("d", dataset)}));
}

std::string with_attribute(const std::string& attribute) {
  Crafted file;
  return file.finish(
      file.object({{2, std::string(18, '\xff').replace(0, 2, 2, '\0')}, {12, attribute}}));
}

TEST(Hdf5Hostile, ReadsASoundCraftedFile) {
  const std::string good = with_dataset({space({1}), type(), contiguous(0, 4)});
  EXPECT_EQ(complaint([&] { read_all(good); }), "");
  const File file(in_memory(good));
  EXPECT_EQ(file.root().names(), std::vector<std::string>{"d"});
  EXPECT_EQ(file.root().dataset("d").dtype(), DType::i32);
  expect_user_error([&] { file.root().group("d"); }, "'/' has no group 'd'");
  expect_user_error([&] { file.root().dataset("d/e"); }, "has no dataset 'd/e'");
  expect_user_error([&] { file.root().attribute("a"); }, "'/' has no attribute 'a'");
}

TEST(Hdf5Hostile, RefusesDamagedSuperblocks) {
  const std::string good = with_dataset({space({1}), type(), contiguous(0, 4)});
  const auto changed = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  refuses("", "expected an HDF5 file, got 0 bytes");
  refuses(std::string(100, 'x'), "expected an HDF5 file");
  refuses(changed(8, 9), "version 9 of the superblock");
  refuses(changed(13, 4), "addresses of 4 and 8 bytes");
  refuses(changed(24, 1), "begins inside another");
  refuses(changed(45, 1), "shorter than its superblock says");
  refuses(changed(64, 1), "an object header is damaged");
  refuses(changed(66, 1), "ends inside an object header");
}

TEST(Hdf5Hostile, RefusesSoftExternalAndMisnamedLinks) {
  for (const auto& [kind, what] : {std::pair{1, "a soft link"},
                                   {64, "an external link"},
                                   {65, "a user-defined link"},
                                   {7, "a user-defined link"}}) {
    Crafted file;
    refuses(file.finish(file.object({link("x", first_object, kind)})), what);
  }
  const auto named = [](const std::string& name) {
    Crafted file;
    const uint64_t dataset = file.object({space({1}), type(), contiguous(0, 4)});
    return file.finish(file.object({link("ok", dataset), link(name, dataset)}));
  };
  EXPECT_EQ(complaint([&] { read_all(named("b")); }), "");
  refuses(named("ok"), "two links named 'ok'");
  refuses(named(""), "impossible name ''");
  refuses(named("a/b"), "impossible name 'a/b'");
  refuses(named(".."), "impossible name '..'");
  refuses(named(std::string("a\0b", 3)), "impossible name 'a?b'");
  refuses(named("b"), "more than 1 objects", {.objects = 1});
}

TEST(Hdf5Hostile, RefusesCyclesAndDeepNesting) {
  Crafted itself;
  refuses(itself.finish(itself.object({link("me", first_object)})),
          "two links lead to the group '/'");
  Crafted twice;
  const uint64_t group = twice.object({{10, std::string(2, '\0')}});
  refuses(twice.finish(twice.object({link("a", group), link("b", group)})), "two links lead");
  Crafted deep;
  uint64_t last = deep.object({{10, std::string(2, '\0')}});
  for (int i = 0; i < 300; ++i) last = deep.object({link("g", last)});
  refuses(deep.finish(last), "more than 256 deep");
  EXPECT_EQ(complaint([&] { read_all(deep.finish(last), {.depth = 400}); }), "");
  Crafted header;  // a header whose continuation is the header itself
  Packer again;
  again.u64(first_object + 16).u64(24);
  refuses(header.finish(header.object({{16, again.bytes()}})), "structures of the file overlap");
}

// A file whose root is a group of the old format, with the given B-tree, heap and symbol table.
std::string old_group(const std::string& tree, const std::string& names,
                      const std::string& symbols) {
  Crafted file;
  const uint64_t name_at = file.raw(names);
  Packer heap;
  heap.put("HEAP").u32(0).u64(names.size()).u64(undefined_address).u64(name_at);
  const uint64_t heap_at = file.raw(heap.bytes());
  const uint64_t symbols_at = file.raw(symbols);
  Packer node;
  node.put(tree).u64(undefined_address).u64(undefined_address).u64(0);
  const uint64_t tree_at = file.next();
  node.u64(tree[5] == 0 ? symbols_at : tree_at).u64(0);
  file.raw(node.bytes());
  Packer table;
  table.u64(tree_at).u64(heap_at);
  return file.finish(file.object({{17, table.bytes()}}));
}

TEST(Hdf5Hostile, RefusesDamagedOldGroups) {
  const std::string tree("TREE\0\0\1\0", 8), names("\0abc\0\0\0\0", 8);
  const auto symbols = [](uint64_t name, uint32_t cache, uint16_t count = 1) {
    Packer out;
    out.put("SNOD").u8(1).u8(0).u16(count);
    return out.u64(name).u64(first_object).u32(cache).zeros(20).bytes();
  };
  // The link leads to the heap, which is not an object: the group itself was read.
  refuses(old_group(tree, names, symbols(1, 0)), "an object header is damaged");
  refuses(old_group(tree, names, symbols(1, 2)), "'abc' is a soft link");
  refuses(old_group(tree, names, symbols(8, 0)), "a name lies outside of its heap");
  refuses(old_group(tree, "abcdefgh", symbols(1, 0)), "a name is not terminated");
  refuses(old_group(tree, names, symbols(1, 0, 60000)), "ends inside a symbol table");
  refuses(old_group(tree, names, "SNOT"), "a symbol table is damaged");
  refuses(old_group(std::string("TREE\1\0\1\0", 8), names, symbols(1, 0)), "B-tree of a group");
  // The tree's child is the tree itself, but the level of a child must be one less.
  refuses(old_group(std::string("TREE\0\1\1\0", 8), names, symbols(1, 0)), "levels of a B-tree");
}

TEST(Hdf5Hostile, RefusesImpossibleDatasetSizes) {
  const uint64_t large = uint64_t{1} << 32;
  refuses(with_dataset({space({large, large}), type(), contiguous(0, 0)}),
          "more elements than a tensor");
  refuses(with_dataset({space({large, large, 0}), type(), contiguous(0, 0)}),
          "more elements than a tensor");
  refuses(with_dataset({space({~uint64_t{0}}), type(), contiguous(0, 4)}),
          "more elements than a tensor");
  refuses(with_dataset({space({1u << 30}), type(), contiguous(0, 4)}),
          "'/d' claims 4294967296 bytes, but has 4");
  refuses(with_dataset({space({1u << 30}), type(), contiguous(0, large)}),
          "more than the file has");
  refuses(with_dataset({space({1}), type(), contiguous(large, 4)}), "more than the file has");
  refuses(with_dataset({space({1}), type(), contiguous(~uint64_t{1}, 4)}),
          "more than the file has");
  refuses(with_dataset({space({1u << 30}), type(), contiguous(undefined_address, large)}),
          "has no data");
  refuses(with_dataset({space(std::vector<uint64_t>(33, 1)), type(), contiguous(0, 4)}),
          "33 dimensions");
  Packer compact;
  compact.u8(3).u8(0).u16(50000);
  refuses(with_dataset({space({12500}), type(), {8, compact.bytes()}}), "ends inside the layout");
}

TEST(Hdf5Hostile, RefusesUnsupportedStorageAndTypes) {
  const RawMessage one = space({1}), here = contiguous(0, 4);
  refuses(with_dataset({one, type(), here, {7, std::string(16, '\0')}}), "in another file");
  refuses(with_dataset({one, type(), contiguous(0, 4, 3)}), "virtual storage");
  refuses(with_dataset({one, type(), contiguous(0, 4, 1, 2)}), "layout of version 2");
  refuses(with_dataset({type(), here}), "lacks a message of its header");
  refuses(with_dataset({one, {3, type().data, 2}, here}), "committed datatype");
  refuses(with_dataset({one, type(0, 3), here}), "integers of 24 bits");
  refuses(with_dataset({one, type(1, 4), here}), "floats of 4 bytes");
  refuses(with_dataset({one, type(5, 4), here}), "opaque elements of 4 bytes");
  refuses(with_dataset({one, type(9, 16, 0), here}), "lists of variable length");
  refuses(with_dataset({one, type(3, 0, 0), here}), "elements without a size");
  for (const auto& [kind, what] :
       {std::pair{2, "time"}, {4, "bitfield"}, {6, "compound"}, {7, "reference"}, {10, "array"}})
    refuses(with_dataset({one, type(kind, 4), here}), std::string("datatype of class ") + what);
  refuses(with_dataset({one, type(15, 4), here}), "unknown class 15");
}

// A dataset of `dims` in chunks of 4 floats, with the given entries of its B-tree.
struct RawChunk {
  uint64_t begin;
  std::string data;
  uint32_t claimed = 0;
};
std::string chunked(uint64_t count, const std::vector<RawChunk>& chunks, int filter = 0,
                    uint32_t chunk_dim = 4) {
  Crafted file;
  Packer tree;
  tree.put("TREE")
      .u8(1)
      .u8(0)
      .u16(static_cast<uint16_t>(chunks.size()))
      .u64(undefined_address)
      .u64(undefined_address);
  for (const RawChunk& chunk : chunks) {
    const auto size = static_cast<uint32_t>(chunk.data.size());
    tree.u32(chunk.claimed == 0 ? size : chunk.claimed).u32(0).u64(chunk.begin).u64(0);
    tree.u64(file.raw(chunk.data));
  }
  const uint64_t tree_at = file.raw(tree.bytes());
  Packer layout, filters;
  layout.u8(3).u8(2).u8(2).u64(tree_at).u32(chunk_dim).u32(4);
  filters.u8(2).u8(1).u16(static_cast<uint16_t>(filter)).u16(0).u16(0);
  std::vector<RawMessage> messages = {space({count}), type(), {8, layout.bytes()}};
  if (filter != 0) messages.push_back({11, filters.bytes()});
  const uint64_t dataset = file.object(messages);
  return file.finish(file.object({link("d", dataset)}));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return out.substr(0, size);
}

TEST(Hdf5Hostile, RefusesDamagedChunks) {
  const std::string chunk(16, 'x'), packed = deflated(chunk);
  EXPECT_EQ(complaint([&] { read_all(chunked(6, {{0, chunk}, {4, chunk}})); }), "");
  EXPECT_EQ(complaint([&] { read_all(chunked(4, {{0, packed}}, 1)); }), "");
  refuses(chunked(8, {{0, chunk}}), "has 1 of 2 chunks");
  refuses(chunked(8, {{0, chunk}, {0, chunk}}), "has a chunk twice");
  refuses(chunked(8, {{0, chunk}, {3, chunk}}), "a chunk at an impossible position");
  refuses(chunked(8, {{0, chunk}, {8, chunk}}), "a chunk at an impossible position");
  refuses(chunked(4, {{0, chunk, 1u << 30}}), "outside of the file");
  refuses(chunked(8, {{0, chunk, 200}, {4, chunk, 200}}), "chunks that overlap");
  refuses(chunked(4, {{0, "short"}}), "a chunk of 5 bytes instead of 16");
  refuses(chunked(4, {{0, chunk}}, 1), "does not unpack to 16 bytes");
  refuses(chunked(4, {{0, deflated(chunk + chunk)}}, 1), "does not unpack to 16 bytes");
  refuses(chunked(4, {{0, chunk}}, 3), "checksum differs");
  refuses(chunked(4, {{0, chunk}}, 4), "has the filter 4");
  refuses(chunked(4, {{0, chunk}}, 32001), "has the filter 32001");
  refuses(chunked(4, {{0, chunk}}, 0, 0), "chunks of an impossible size");
  refuses(chunked(uint64_t{1} << 40, {{0, chunk}}), "has 1 of");
  // Few bytes that claim to unpack to many times their size.
  refuses(chunked(1u << 30, {{0, packed}}, 1, 1u << 30), "can unpack to");
  const std::string zeros = deflated(std::string(1 << 20, '\0'));
  const std::string bomb = chunked(1 << 18, {{0, zeros}}, 1, 1 << 18);
  EXPECT_EQ(complaint([&] { read_all(bomb); }), "");
  refuses(bomb, "more than 100 times its size", {.unpacked = 1 << 19});
}

std::string attribute(const std::string& name, const std::string& datatype, uint64_t count,
                      const std::string& data, int version = 1) {
  Packer out;
  const std::string shape = space({count}).data;
  out.u8(static_cast<uint8_t>(version)).u8(0).u16(static_cast<uint16_t>(name.size() + 1));
  out.u16(static_cast<uint16_t>(datatype.size())).u16(static_cast<uint16_t>(shape.size()));
  out.put(name).zeros(1).pad(8).put(datatype).pad(8).put(shape).pad(8).put(data);
  return out.bytes();
}

TEST(Hdf5Hostile, RefusesDamagedAttributes) {
  const std::string numbers = type_bytes(0, 4, 8).substr(0, 12);
  EXPECT_EQ(complaint([&] { read_all(with_attribute(attribute("a", numbers, 1, "1234"))); }), "");
  refuses(with_attribute(attribute("a", numbers, 1 << 30, "1234")),
          "the attribute 'a' of '/' claims 1073741824 elements of 4 bytes");
  refuses(with_attribute(attribute("", numbers, 1, "1234")), "has no name");
  refuses(with_attribute(attribute("a", numbers, 1, "1234", 4)), "unknown version 4");
  refuses(with_attribute(attribute("a", type_bytes(6, 4), 1, "1234")), "class compound");
  Crafted twice;
  const RawMessage same = {12, attribute("a", numbers, 1, "1234")};
  refuses(twice.finish(twice.object({{10, "  "}, same, same})), "two attributes named 'a'");
  // Many strings of no bytes would fill the memory.
  refuses(with_attribute(attribute("a", type_bytes(3, 0), uint64_t{1} << 40, "")),
          "many strings without a length");
}

std::string with_string(uint32_t length, uint64_t heap_shift, uint32_t index,
                        const std::string& signature = "GCOL", uint64_t heap_size = 48) {
  Crafted file;
  Packer heap;
  heap.put(signature).u32(1).u64(heap_size).u16(1).u16(0).u32(0).u64(5).put("hello").pad(8).zeros(
      8);
  const uint64_t heap_at = file.raw(heap.bytes());
  Packer data;
  data.u32(length).u64(heap_at + heap_shift).u32(index);
  const std::string a = attribute("a", type_bytes(9, 16, 1), 1, data.bytes());
  return file.finish(file.object({{10, "  "}, {12, a}}));
}

TEST(Hdf5Hostile, RefusesDamagedGlobalHeaps) {
  const File file(in_memory(with_string(5, 0, 1)));
  EXPECT_EQ(file.root().attribute("a").string(), "hello");
  refuses(with_string(6, 0, 1), "a string longer than its object in the heap");
  refuses(with_string(1u << 31, 0, 1), "strings longer than the file");
  refuses(with_string(5, 0, 2), "a global heap has no object 2");
  refuses(with_string(5, 8, 1), "a global heap is damaged");
  refuses(with_string(5, 1 << 30, 1), "ends inside a global heap");
  refuses(with_string(5, 0, 1, "GCOX"), "a global heap is damaged");
  refuses(with_string(5, 0, 1, "GCOL", uint64_t{1} << 40), "ends inside a global heap");
}

const std::string damaged_files = std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/";

TEST(Hdf5Hostile, RefusesEveryTruncation) {
  for (const char* name : {"earliest.h5", "latest.h5"}) {
    const std::string good = bytes_of(damaged_files + name);
    for (size_t size = 0; size < good.size(); size += 37)
      EXPECT_NE(complaint([&] { read_all(good.substr(0, size)); }), "") << name << size;
  }
}

// Checksums detect flipped bytes of structures; flips elsewhere give an error or other values.
TEST(Hdf5Hostile, SurvivesEveryFlippedByte) {
  for (const char* name : {"earliest.h5", "latest.h5"}) {
    const std::string good = bytes_of(damaged_files + name);
    for (size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (at % 2 == 0 ? 0x81 : 0xff));
      complaint([&] { read_all(bad, {.unpacked = 1 << 20, .checksums = false}); });
    }
  }
  std::string bad = bytes_of(damaged_files + "latest.h5");
  bad[20] ^= 1;  // in the superblock
  refuses(bad, "checksum differs");
}

}  // namespace
}  // namespace keratin::hdf5
