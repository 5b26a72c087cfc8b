#include "keratin/files/hdf5_writer.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/files/bytes.h"
#include "keratin/files/hdf5_format.h"

namespace keratin::hdf5 {

using files::as_bytes;
using files::Bytes;
using files::in_quotes;
using files::Packer;

namespace {

constexpr uint64_t superblock_size = 96, alignment = 64;
// B-trees of groups: a leaf has up to 2 · leaf_k links, a node up to 2 · node_k children.
constexpr size_t leaf_k = 4, node_k = 16;
constexpr size_t link_size = 40;
constexpr size_t leaf_size = 8 + 2 * leaf_k * link_size;
constexpr size_t node_size = 24 + 2 * node_k * 8 + (2 * node_k + 1) * 8;
constexpr uint64_t no_free_block = 1;    // marks a local heap as full
constexpr size_t max_attribute = 64512;  // Keras's limit for the bytes of one
constexpr size_t min_heap = 4096;        // libhdf5 refuses smaller global heaps
constexpr size_t full_heap = 65536;

uint64_t aligned(uint64_t size, uint64_t to) { return (size + to - 1) / to * to; }

struct NewMessage {
  uint16_t type;
  std::string data;
};

std::string space_message(const Dims& dims) {
  Packer out;
  out.u8(1).u8(static_cast<uint8_t>(dims.size())).zeros(6);
  for (const int64_t dim : dims) out.number(dim);
  return out.bytes();
}

// The first word of a datatype: its class, version 1, and flags.
Packer type_head(uint32_t kind, uint32_t flags, size_t size) {
  Packer out;
  out.u32(0x10 | kind | flags << 8).u32(static_cast<uint32_t>(size));
  return out;
}

std::string integer_type(size_t size, bool is_signed) {
  Packer out = type_head(0, is_signed ? 8 : 0, size);
  return out.u16(0).u16(static_cast<uint16_t>(size * 8)).bytes();
}

std::string float_type(size_t size, uint8_t exponent_bits, uint8_t mantissa_bits) {
  const auto sign = static_cast<uint32_t>(size * 8 - 1);
  Packer out = type_head(1, sign << 8 | 0x20, size);
  out.u16(0).u16(static_cast<uint16_t>(size * 8)).u8(mantissa_bits).u8(exponent_bits);
  return out.u8(0).u8(mantissa_bits).u32((1u << (exponent_bits - 1)) - 1).bytes();
}

// The datatypes that h5py writes; Keras writes bfloat16 as two opaque bytes.
std::string type_message(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return float_type(8, 11, 52);
    case DType::f32:
      return float_type(4, 8, 23);
    case DType::f16:
      return float_type(2, 5, 10);
    case DType::bf16:
      return type_head(5, 0, 2).bytes();
    case DType::boolean:
      break;
    default:
      return integer_type(size_of(dtype), dtype != DType::u8);
  }
  Packer out = type_head(8, 2, 1);
  out.put(integer_type(1, true)).put(std::string_view("FALSE\0\0\0TRUE\0\0\0\0", 16));
  return out.u8(0).u8(1).bytes();
}

std::string fixed_string_type(size_t size) { return type_head(3, 1, size).bytes(); }  // null-padded

std::string variable_string_type() {
  Packer out = type_head(9, 0x101, 16);  // strings in UTF-8
  return out.put(type_head(3, 0x10, 1).bytes()).bytes();
}

std::string attribute_message(const std::string& name, const std::string& type,
                              const std::string& space, std::string_view data) {
  Packer out;
  out.u8(1).u8(0).u16(static_cast<uint16_t>(name.size() + 1));
  out.u16(static_cast<uint16_t>(type.size())).u16(static_cast<uint16_t>(space.size()));
  out.put(name).zeros(1).pad(8).put(type).pad(8).put(space).pad(8).put(data);
  return out.bytes();
}

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
}

size_t longest(const std::vector<std::string>& strings) {
  size_t size = 1;
  for (const std::string& string : strings) size = std::max(size, string.size());
  return size;
}

}  // namespace

// Assigns every object an address: tensors follow the superblock, then all structures, children
// before their parents, so that every address is known when it is written.
class Layout {
 public:
  explicit Layout(const NewGroup& root) {
    groups_.push_back(&root);
    for (size_t i = 0; i < groups_.size(); ++i)
      for (const auto& [name, child] : groups_[i]->groups_) groups_.push_back(child.get());
    for (const NewGroup* group : groups_) assign_offsets(*group);
    base_ = aligned(data_end_, 8);
    pack_strings();
    for (size_t i = groups_.size(); i-- > 0;) pack_group(*groups_[i]);
    pack_superblock(symbols_.at(&root));
  }

  void write(files::Sink& sink) const {
    sink.write(as_bytes(superblock_));
    uint64_t at = superblock_size;
    const std::string zeros(alignment, '\0');
    const auto pad_to = [&](uint64_t offset) {
      sink.write(as_bytes(std::string_view(zeros).substr(0, offset - at)));
      at = offset;
    };
    for (const auto& [offset, tensor] : tensors_) {
      pad_to(offset);
      sink.write(as_bytes(bytes_of(tensor)));
      at += tensor.bytes();
    }
    pad_to(base_);
    sink.write(as_bytes(out_.bytes()));
  }

 private:
  // The addresses of a group.
  struct Symbols {
    uint64_t header = 0, tree = 0, heap = 0;
  };
  struct Child {
    uint64_t address = 0;
    uint64_t last_name = 0;  // offset in the heap of the last name below it
  };

  // A string in a global heap.
  struct HeapEntry {
    uint64_t heap = 0;
    uint32_t number = 0;
  };

  uint64_t here() const { return base_ + out_.size(); }

  void assign_offsets(const NewGroup& group) {
    for (const auto& [name, dataset] : group.datasets_) {
      if (dataset.tensor_.bytes() == 0) continue;
      const uint64_t offset = aligned(data_end_, alignment);
      tensors_.emplace_back(offset, dataset.tensor_);
      data_offsets_[&dataset] = offset;
      data_end_ = offset + dataset.tensor_.bytes();
    }
  }

  // Packs strings of variable length into global heaps, which come before all other structures.
  void pack_strings() {
    for (const NewGroup* group : groups_) {
      pack_strings_of(*group);
      for (const auto& [name, dataset] : group->datasets_) pack_strings_of(dataset);
    }
    flush_heap();
  }

  void pack_strings_of(const NewObject& object) {
    for (const auto& [name, attribute] : object.attributes_)
      for (const std::string& string : attribute.strings) {
        if (attribute.kind != StringKind::variable || string.empty()) continue;
        heap_entries_[&string] = {here(), ++heap_count_};
        heap_.u16(static_cast<uint16_t>(heap_count_)).u16(1).u32(0).u64(string.size());
        heap_.put(string).pad(8);
        if (heap_.size() > full_heap) flush_heap();
      }
  }

  // Writes the heap that was filled. The free space at its end is the object with number 0.
  void flush_heap() {
    if (heap_count_ == 0) return;
    const size_t used = 16 + heap_.size(), size = std::max(used + 16, min_heap);
    out_.put("GCOL").u32(1).u64(size).put(heap_.bytes());
    out_.u64(0).u64(size - used).zeros(size - used - 16);
    heap_ = {};
    heap_count_ = 0;
  }

  void pack_group(const NewGroup& group) {
    std::map<std::string_view, uint64_t> links;  // sorted by name: readers use binary search
    for (const auto& [name, child] : group.groups_) links[name] = symbols_.at(child.get()).header;
    for (const auto& [name, dataset] : group.datasets_) links[name] = pack_dataset(dataset);
    Symbols& symbols = symbols_[&group];
    Packer names;
    names.zeros(8);  // the empty name comes first
    std::vector<uint64_t> offsets;
    for (const auto& [name, address] : links) {
      offsets.push_back(names.size());
      names.put(name).zeros(1).pad(8);
    }
    symbols.heap = pack_heap(names.bytes());
    symbols.tree = pack_tree(pack_leaves(links, offsets));
    Packer message;
    message.u64(symbols.tree).u64(symbols.heap);
    std::vector<NewMessage> messages = {{17, message.bytes()}};
    pack_attributes(group, messages);
    symbols.header = pack_header(messages);
  }

  uint64_t pack_heap(const std::string& names) {
    const uint64_t address = here();
    out_.put("HEAP").u32(0).u64(names.size()).u64(no_free_block).u64(address + 32).put(names);
    return address;
  }

  std::vector<Child> pack_leaves(const std::map<std::string_view, uint64_t>& links,
                                 const std::vector<uint64_t>& offsets) {
    std::vector<Child> leaves;
    auto link = links.begin();
    for (size_t at = 0; at < links.size();) {
      const size_t count = std::min(2 * leaf_k, links.size() - at);
      leaves.push_back({here(), offsets[at + count - 1]});
      out_.put("SNOD").u8(1).u8(0).u16(static_cast<uint16_t>(count));
      for (size_t i = 0; i < count; ++i, ++at, ++link)
        out_.u64(offsets[at]).u64(link->second).u32(0).zeros(20);
      out_.zeros(leaf_size - 8 - count * link_size);
    }
    return leaves;
  }

  // Packs a B-tree level by level, from the leaves up to its root.
  uint64_t pack_tree(std::vector<Child> children) {
    for (uint8_t level = 0;; ++level) {
      children = pack_level(children, level);
      if (children.size() == 1) return children.front().address;
    }
  }

  std::vector<Child> pack_level(const std::vector<Child>& children, uint8_t level) {
    const size_t width = 2 * node_k;
    const size_t count = std::max<size_t>(1, (children.size() + width - 1) / width);
    const uint64_t first = here();
    std::vector<Child> nodes;
    uint64_t last_name = 0;  // the name before the first one of a node
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = i * width, used = std::min(width, children.size() - begin);
      nodes.push_back({here(), 0});
      out_.put("TREE").u8(0).u8(level).u16(static_cast<uint16_t>(used));
      out_.u64(i == 0 ? undefined_address : first + (i - 1) * node_size);
      out_.u64(i + 1 == count ? undefined_address : first + (i + 1) * node_size);
      out_.u64(last_name);
      for (size_t c = begin; c < begin + used; ++c) {
        last_name = children[c].last_name;
        out_.u64(children[c].address).u64(last_name);
      }
      out_.zeros((width - used) * 16);
      nodes.back().last_name = last_name;
    }
    return nodes;
  }

  uint64_t pack_dataset(const NewDataset& dataset) {
    const Tensor& tensor = dataset.tensor_;
    Packer fill, layout;
    fill.u8(2).u8(2).u8(2).u8(1).u32(0);  // no fill value
    const auto offset = data_offsets_.find(&dataset);
    layout.u8(3)
        .u8(1)
        .u64(offset == data_offsets_.end() ? undefined_address : offset->second)
        .u64(tensor.bytes());
    std::vector<NewMessage> messages = {{1, space_message(tensor.shape().dims())},
                                        {3, type_message(tensor.dtype())},
                                        {5, fill.bytes()},
                                        {8, layout.bytes()}};
    pack_attributes(dataset, messages);
    return pack_header(messages);
  }

  void pack_attributes(const NewObject& object, std::vector<NewMessage>& messages) {
    for (const auto& [name, attribute] : object.attributes_) {
      const std::string message = pack_attribute(name, attribute);
      require(message.size() < 65528, "hdf5: the attribute ", in_quotes(name), " has ",
              message.size(), " bytes, more than the 64 KiB that fit");
      messages.push_back({12, message});
    }
    require(messages.size() < 65536, "hdf5: an object has too many attributes");
  }

  std::string pack_attribute(const std::string& name, const NewObject::Attribute& attribute) {
    if (!attribute.is_string)
      return attribute_message(name, type_message(attribute.numbers.dtype()),
                               space_message(attribute.numbers.shape().dims()),
                               bytes_of(attribute.numbers));
    const std::vector<std::string>& strings = attribute.strings;
    const std::string space =
        space_message(attribute.scalar ? Dims{} : Dims{static_cast<int64_t>(strings.size())});
    Packer data;
    if (attribute.kind == StringKind::variable) {
      for (const std::string& string : strings) {
        const auto entry = string.empty() ? HeapEntry{} : heap_entries_.at(&string);
        data.u32(static_cast<uint32_t>(string.size())).u64(entry.heap).u32(entry.number);
      }
      return attribute_message(name, variable_string_type(), space, data.bytes());
    }
    const size_t size = longest(strings);
    for (const std::string& string : strings) data.put(string).zeros(size - string.size());
    return attribute_message(name, fixed_string_type(size), space, data.bytes());
  }

  uint64_t pack_header(const std::vector<NewMessage>& messages) {
    const uint64_t address = here();
    Packer packed;
    for (const NewMessage& message : messages) {
      packed.u16(message.type).u16(static_cast<uint16_t>(aligned(message.data.size(), 8)));
      packed.zeros(4).put(message.data).pad(8);
    }
    out_.u8(1).u8(0).u16(static_cast<uint16_t>(messages.size())).u32(1);
    out_.u32(static_cast<uint32_t>(packed.size())).u32(0).put(packed.bytes());
    return address;
  }

  void pack_superblock(const Symbols& root) {
    Packer out;
    out.put("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0);
    out.u16(leaf_k)
        .u16(node_k)
        .u32(0)
        .u64(0)
        .u64(undefined_address)
        .u64(here())
        .u64(undefined_address);
    out.u64(0).u64(root.header).u32(1).u32(0).u64(root.tree).u64(root.heap);
    superblock_ = out.bytes();
  }

  std::vector<std::pair<uint64_t, Tensor>> tensors_;
  std::map<const NewDataset*, uint64_t> data_offsets_;
  std::map<const NewGroup*, Symbols> symbols_;
  std::map<const std::string*, HeapEntry> heap_entries_;
  std::vector<const NewGroup*> groups_;  // parents before their children
  uint64_t data_end_ = superblock_size, base_ = 0;
  Packer heap_;
  uint32_t heap_count_ = 0;
  Packer out_;  // all structures but the superblock
  std::string superblock_;
};

void NewObject::attribute(const std::string& name, const Tensor& value) {
  attributes_[name] = {.numbers = value};
}

void NewObject::attribute(const std::string& name, const std::string& value, StringKind kind) {
  attributes_[name] = {.strings = {value}, .is_string = true, .scalar = true, .kind = kind};
}

void NewObject::attribute(const std::string& name, const std::vector<std::string>& values,
                          StringKind kind) {
  attributes_[name] = {.strings = values, .is_string = true, .kind = kind};
}

// Attributes of a split list differ by at most one string, the longer ones first, as NumPy's
// array_split has it. An empty list is an empty array of floats.
void NewObject::strings(const std::string& name, const std::vector<std::string>& values) {
  if (values.empty()) return attribute(name, Tensor(DType::f64, {0}));
  const size_t size = longest(values);
  require(size <= max_attribute, "hdf5: a string of ", size, " bytes in ", in_quotes(name),
          " does not fit in an attribute");
  size_t splits = 1;
  while ((values.size() + splits - 1) / splits * size > max_attribute) ++splits;
  if (splits == 1) return attribute(name, values);
  auto at = values.begin();
  for (size_t i = 0; i < splits; ++i) {
    const size_t count = values.size() / splits + (i < values.size() % splits ? 1 : 0);
    const auto end = at + static_cast<std::ptrdiff_t>(count);
    attribute(name + std::to_string(i), std::vector<std::string>(at, end));
    at = end;
  }
}

NewGroup& NewGroup::parent_of(const std::string& path, std::string& name) {
  NewGroup* at = this;
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', begin)) {
    at = &at->group(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  name = path.substr(begin);
  require(!name.empty() && name != "." && name != ".." && name.find('\0') == name.npos,
          "hdf5: the path ", in_quotes(path), " has an impossible name");
  return *at;
}

NewGroup& NewGroup::group(const std::string& path) {
  std::string name;
  NewGroup& parent = parent_of(path, name);
  require(!parent.datasets_.contains(name), "hdf5: ", in_quotes(path), " is a dataset");
  std::unique_ptr<NewGroup>& child = parent.groups_[name];
  if (child == nullptr) child = std::make_unique<NewGroup>();
  return *child;
}

NewDataset& NewGroup::dataset(const std::string& path, Tensor tensor) {
  std::string name;
  NewGroup& parent = parent_of(path, name);
  require(!parent.groups_.contains(name) && !parent.datasets_.contains(name),
          "hdf5: ", in_quotes(path), " is written twice");
  NewDataset& made = parent.datasets_[name];
  made.tensor_ = std::move(tensor);
  return made;
}

void Writer::write(files::Sink& sink) const { Layout(root_).write(sink); }

void Writer::save(const std::filesystem::path& path) const {
  files::AtomicFile file(path);
  write(file);
  file.commit();
}

}  // namespace keratin::hdf5
