#pragma once

#include <array>
#include <map>
#include <set>

#include "keratin/base/text.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_format.h"

// The internals of the HDF5 reader. Section numbers refer to the HDF5 File Format
// Specification 3.0.
namespace keratin::hdf5 {

using files::Bytes;
using files::Cursor;
using files::FileView;

// The file, and how many of its bytes may still be read as structures. Structures of a sound file
// do not overlap, so together they have at most the bytes of the file: reading a loop or a shared
// structure fails when the bytes are used up.
class Source {
 public:
  Source(FileView file, Limits limits)
      : file_(std::move(file)), limits_(limits), left_(file_.size()) {}

  const FileView& file() const { return file_; }
  const std::string& name() const { return file_.name(); }
  const Limits& limits() const { return limits_; }

  // Reads at an address without counting the bytes as a structure.
  Cursor peek(uint64_t address, std::string_view what) const {
    return {file_.bytes(), file_.name(), what, std::min(address, file_.size() + 1)};
  }
  // The bytes of a structure.
  Bytes take(uint64_t address, uint64_t size, std::string_view what) const;
  // The same for a structure whose last four bytes are the checksum of the others.
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

// IV.A: the messages of an object header.
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
  bool shared = false;  // the contents lie in another object
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
// The links of a group, in its order. Links other than hard links are refused.
std::vector<Link> read_links(const Source& source, const std::vector<Message>& messages);

// A link with its creation order, from a message or a fractal heap.
struct OrderedLink : Link {
  uint64_t order = 0;
};
OrderedLink parse_link(const Source& source, Bytes data);

// III.G, III.A.2: the objects of a fractal heap that a B-tree of version 2 lists.
enum class DenseKind { links, attributes };
std::vector<Bytes> read_dense(const Source& source, uint64_t heap, uint64_t tree, DenseKind kind);

// IV.A.2.d: the datatypes that Keras's files have.
struct Datatype {
  enum class Kind { integer, floating, boolean, opaque, string, variable_string };
  enum class Padding { null_terminated, null_padded, space_padded };
  Kind kind = Kind::integer;
  uint32_t size = 0;  // of an element in the file
  bool is_signed = false, big_endian = false, brain = false;
  Padding padding = Padding::null_terminated;

  bool is_string() const { return kind == Kind::string || kind == Kind::variable_string; }
  // The dtype of a tensor of this type.
  DType dtype() const;
  // True if tensors have the same bytes as the file.
  bool native() const;
};
Datatype parse_datatype(const Source& source, Cursor& at, const std::string& who);

struct Dataspace {
  Dims dims;
  uint64_t count = 1;
  bool null = false;  // has neither elements nor a shape
};
Dataspace parse_dataspace(const Source& source, Cursor& at, const std::string& who);

// Converts numbers from their bytes in the file.
Tensor decode_numbers(Bytes raw, const Datatype& type, const Shape& shape, const std::string& who);

// III.E: objects of variable length that attributes and datasets refer to.
class GlobalHeap {
 public:
  Bytes find(const Source& source, uint64_t address, uint32_t index);

 private:
  std::set<uint64_t> read_;
  std::map<std::pair<uint64_t, uint32_t>, Bytes> objects_;
};

// Reads strings from their bytes in the file, or from the heap that the bytes refer to.
std::vector<std::string> decode_strings(const Source& source, GlobalHeap& heap, Bytes raw,
                                        const Datatype& type, uint64_t count,
                                        const std::string& who);

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

// One chunk of a dataset in chunked storage.
struct Chunk {
  std::vector<uint64_t> begin;  // index of its first element
  uint64_t address = 0, size = 0;
  uint32_t skipped = 0;  // bit i: filter i was not applied
};
// The type, shape and storage of a dataset.
struct StoredDataset {
  Datatype type;
  Dataspace space;
  std::optional<uint64_t> begin;  // of contiguous data; not set if there is none
  std::vector<Message> messages;  // with layout and filters; of chunked datasets only
  bool chunked = false;

  uint64_t bytes() const { return space.count * type.size; }
};
StoredDataset parse_dataset(const Source& source, const std::vector<Message>& messages,
                            const std::string& who);

// IV.A.2.i: a layout in chunks.
struct ChunkLayout {
  std::vector<uint64_t> dims;  // of one chunk, in elements
  std::vector<Chunk> chunks;   // each chunk of the dataset, once
  uint64_t bytes = 0;          // of one chunk
};
ChunkLayout read_chunks(const Source& source, const StoredDataset& dataset, const std::string& who);
Buffer unpack_chunks(const Source& source, const StoredDataset& dataset, const std::string& who);

struct Filter {
  enum class Kind : uint16_t { deflate = 1, shuffle = 2, fletcher32 = 3 };
  Kind kind;
};
std::vector<Filter> read_filters(const Source& source, const std::vector<Message>& messages,
                                 const std::string& who);
// Undoes the filters of a chunk. The result has exactly `bytes` bytes.
Buffer unfilter(const Source& source, const std::vector<Filter>& filters, const Chunk& chunk,
                uint64_t bytes, uint64_t element, const std::string& who);

uint32_t lookup3(Bytes bytes);     // Jenkins's hash, the checksum of structures
uint32_t fletcher32(Bytes bytes);  // the checksum of chunks

}  // namespace keratin::hdf5
