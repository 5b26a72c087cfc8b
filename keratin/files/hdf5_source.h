#pragma once

#include <array>
#include <map>
#include <set>

#include "keratin/base/text.h"
#include "keratin/files/hdf5.h"

// The inside of the HDF5 reader; section numbers are those of the HDF5 File Format
// Specification 3.0.
namespace keratin::hdf5 {

using files::Bytes;
using files::Cursor;
using files::FileView;

inline constexpr uint64_t nowhere = ~uint64_t{0};  // an address that is not set

// The file, and how much of it may still be read as structure. Every structure lies in bytes of its
// own, so together they are at most the file: loops and shared parts end there.
class Source {
 public:
  Source(FileView file, Limits limits)
      : file_(std::move(file)), limits_(limits), left_(file_.size()) {}

  const FileView& file() const { return file_; }
  const std::string& name() const { return file_.name(); }
  const Limits& limits() const { return limits_; }

  // Looks ahead, for free.
  Cursor peek(uint64_t address, std::string_view what) const {
    return {file_.bytes(), file_.name(), what, std::min(address, file_.size() + 1)};
  }
  // The bytes of a structure.
  Bytes take(uint64_t address, uint64_t size, std::string_view what) const;
  // The same, when its last four bytes are a checksum of those before.
  Bytes take_checked(uint64_t address, uint64_t size, std::string_view what) const;
  Cursor cursor(Bytes bytes, std::string_view what) const { return {bytes, file_.name(), what}; }

  template <class... Parts>
  void check(bool condition, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      fail(file_.name(), ": ", parts...);
  }

 private:
  FileView file_;
  Limits limits_;
  mutable uint64_t left_;
};

// IV.A: what an object header holds.
enum class MessageType : uint16_t {
  dataspace = 1,
  link_info = 2,
  datatype = 3,
  link = 6,
  external_files = 7,
  layout = 8,
  group_info = 10,
  filters = 11,
  attribute = 12,
  continuation = 16,
  symbol_table = 17,
  attribute_info = 21,
};
struct Message {
  MessageType type;
  bool shared = false;  // the contents are elsewhere
  Bytes data;
};
std::vector<Message> read_header(const Source& source, uint64_t address);
const Message* find_message(const std::vector<Message>& messages, MessageType type);

// The address of the root group's header.
uint64_t read_superblock(const Source& source);

struct Link {
  std::string name;
  uint64_t address = 0;
};
// The links of a group, in its order; nothing but hard links is read.
std::vector<Link> read_links(const Source& source, const std::vector<Message>& messages);

// A link message, which also lies in heaps.
struct OrderedLink : Link {
  uint64_t order = 0;
};
OrderedLink parse_link(const Source& source, Bytes data);

// III.G, III.A.2: the objects in a fractal heap that a B-tree of version 2 names.
enum class DenseKind { links, attributes };
std::vector<Bytes> read_dense(const Source& source, uint64_t heap, uint64_t tree, DenseKind kind);

// IV.A.2.d, reduced to what Keras's files have.
struct Datatype {
  enum class Kind { integer, floating, boolean, opaque, text, variable_text };
  enum class Padding { null_terminated, null_padded, space_padded };
  Kind kind = Kind::integer;
  uint32_t size = 0;  // of an element in the file
  bool is_signed = false, big_endian = false, brain = false;
  Padding padding = Padding::null_terminated;

  bool is_text() const { return kind == Kind::text || kind == Kind::variable_text; }
  // What tensors of it are made of.
  DType dtype() const;
  // Do tensors have the very bytes of the file?
  bool native() const;
};
Datatype parse_datatype(const Source& source, Cursor& at, const std::string& who);

struct Dataspace {
  Dims dims;
  uint64_t count = 1;
  bool null = false;  // no element at all, and no shape
};
Dataspace parse_dataspace(const Source& source, Cursor& at, const std::string& who);

// The elements, from their bytes in the file.
Tensor decode_numbers(Bytes raw, const Datatype& type, const Shape& shape, const std::string& who);

// III.E: long things that attributes and datasets refer to.
class GlobalHeap {
 public:
  Bytes find(const Source& source, uint64_t address, uint32_t index);

 private:
  std::set<uint64_t> read_;
  std::map<std::pair<uint64_t, uint32_t>, Bytes> objects_;
};

// Strings, from their bytes in the file or from where these lead.
std::vector<std::string> decode_texts(const Source& source, GlobalHeap& heap, Bytes raw,
                                      const Datatype& type, uint64_t count, const std::string& who);

// An attribute message.
struct StoredAttribute {
  std::string name;
  Bytes type_and_on;  // datatype, dataspace and data, in the layout of its version
  uint8_t version = 0;
  uint16_t type_size = 0, space_size = 0;
};
StoredAttribute parse_attribute(const Source& source, Bytes data);
Value decode_attribute(const Source& source, GlobalHeap& heap, const StoredAttribute& attribute,
                       const std::string& who);

// Where and how the data of a dataset lies.
struct Chunk {
  std::vector<uint64_t> begin;  // of its first element
  uint64_t address = 0, size = 0;
  uint32_t skipped = 0;  // a bit for every filter that was not applied
};
struct StoredDataset {
  Datatype type;
  Dataspace space;
  std::optional<uint64_t> begin;  // of data in one piece; none of an empty dataset
  std::vector<Message> messages;  // of the layout and the filters, when in chunks
  bool chunked = false;

  uint64_t bytes() const { return space.count * type.size; }
};
StoredDataset parse_dataset(const Source& source, const std::vector<Message>& messages,
                            const std::string& who);

// IV.A.2.i, the part about chunks.
struct ChunkLayout {
  std::vector<uint64_t> dims;  // of a chunk, in elements
  std::vector<Chunk> chunks;   // every chunk that the dataset needs, once
  uint64_t bytes = 0;          // of a chunk
};
ChunkLayout read_chunks(const Source& source, const StoredDataset& dataset, const std::string& who);
Buffer unpack_chunks(const Source& source, const StoredDataset& dataset, const std::string& who);

struct Filter {
  enum class Kind : uint16_t { deflate = 1, shuffle = 2, fletcher32 = 3 };
  Kind kind;
};
std::vector<Filter> read_filters(const Source& source, const std::vector<Message>& messages,
                                 const std::string& who);
// Undoes the filters that were applied; gives exactly `bytes`.
Buffer unfilter(const Source& source, const std::vector<Filter>& filters, const Chunk& chunk,
                uint64_t bytes, uint64_t element, const std::string& who);

uint32_t lookup3(Bytes bytes);     // Jenkins's hash: the checksum of structures
uint32_t fletcher32(Bytes bytes);  // the checksum of chunks

}  // namespace keratin::hdf5
