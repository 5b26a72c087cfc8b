#include "keratin/files/hdf5_writer.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/files/bytes.h"

namespace keratin::hdf5 {

using files::as_bytes;
using files::Bytes;
using files::in_quotes;
using files::Packer;

namespace {

constexpr uint64_t nowhere = ~uint64_t{0};
constexpr uint64_t superblock_size = 96, alignment = 64;
// Of the trees of groups: a leaf has up to 2 · leaf_k links, a node up to 2 · node_k children.
constexpr size_t leaf_k = 4, node_k = 16;
constexpr size_t link_size = 40;
constexpr size_t leaf_size = 8 + 2 * leaf_k * link_size;
constexpr size_t node_size = 24 + 2 * node_k * 8 + (2 * node_k + 1) * 8;
constexpr uint64_t no_free_block = 1;    // of a local heap
constexpr size_t max_attribute = 64512;  // what Keras puts in one
constexpr size_t min_heap = 4096;        // that libhdf5 takes
constexpr size_t full_heap = 65536;

uint64_t aligned(uint64_t size, uint64_t to) { return (size + to - 1) / to * to; }

struct Message {
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

// As h5py writes each; bfloat16 is what Keras makes of it.
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

std::string fixed_text_type(size_t size) { return type_head(3, 1, size).bytes(); }  // null-padded

std::string variable_text_type() {
  Packer out = type_head(9, 0x101, 16);  // strings, of UTF-8
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

size_t longest(const std::vector<std::string>& texts) {
  size_t size = 1;
  for (const std::string& text : texts) size = std::max(size, text.size());
  return size;
}

}  // namespace

// Gives everything a place: tensors behind the superblock, one after the other, then all
// structures, children before their parents. So every address is known when it is written.
class Layout {
 public:
  explicit Layout(const NewGroup& root) {
    groups_.push_back(&root);
    for (size_t i = 0; i < groups_.size(); ++i)
      for (const auto& [name, child] : groups_[i]->groups_) groups_.push_back(child.get());
    for (const NewGroup* group : groups_) place_tensors(*group);
    base_ = aligned(data_end_, 8);
    pack_texts();
    for (size_t i = groups_.size(); i-- > 0;) pack_group(*groups_[i]);
    pack_superblock(symbols_.at(&root));
  }

  void write(files::Sink& sink) const {
    sink.write(as_bytes(superblock_));
    uint64_t at = superblock_size;
    const std::string zeros(alignment, '\0');
    const auto pad_to = [&](uint64_t place) {
      sink.write(as_bytes(std::string_view(zeros).substr(0, place - at)));
      at = place;
    };
    for (const auto& [place, tensor] : tensors_) {
      pad_to(place);
      sink.write(as_bytes(bytes_of(tensor)));
      at += tensor.bytes();
    }
    pad_to(base_);
    sink.write(as_bytes(out_.bytes()));
  }

 private:
  // A group as links to it may show it.
  struct Symbols {
    uint64_t header = 0, tree = 0, heap = 0;
  };
  struct Child {
    uint64_t address = 0, last_name = 0;  // the last name below it, in the heap
  };

  struct TextPlace {
    uint64_t heap = 0;
    uint32_t number = 0;
  };

  uint64_t here() const { return base_ + out_.size(); }

  void place_tensors(const NewGroup& group) {
    for (const auto& [name, dataset] : group.datasets_) {
      if (dataset.tensor_.bytes() == 0) continue;
      const uint64_t place = aligned(data_end_, alignment);
      tensors_.emplace_back(place, dataset.tensor_);
      places_[&dataset] = place;
      data_end_ = place + dataset.tensor_.bytes();
    }
  }

  // Strings of variable length lie in heaps, which come first of all structures.
  void pack_texts() {
    for (const NewGroup* group : groups_) {
      pack_texts_of(*group);
      for (const auto& [name, dataset] : group->datasets_) pack_texts_of(dataset);
    }
    flush_heap();
  }

  void pack_texts_of(const NewObject& object) {
    for (const auto& [name, attribute] : object.attributes_)
      for (const std::string& text : attribute.texts) {
        if (attribute.text != Text::variable || text.empty()) continue;
        text_places_[&text] = {here(), ++heap_count_};
        heap_.u16(static_cast<uint16_t>(heap_count_)).u16(1).u32(0).u64(text.size());
        heap_.put(text).pad(8);
        if (heap_.size() > full_heap) flush_heap();
      }
  }

  // What is left of a heap is an object of number 0.
  void flush_heap() {
    if (heap_count_ == 0) return;
    const size_t used = 16 + heap_.size(), size = std::max(used + 16, min_heap);
    out_.put("GCOL").u32(1).u64(size).put(heap_.bytes());
    out_.u64(0).u64(size - used).zeros(size - used - 16);
    heap_ = {};
    heap_count_ = 0;
  }

  void pack_group(const NewGroup& group) {
    std::map<std::string_view, uint64_t> links;  // by name, as readers search them
    for (const auto& [name, child] : group.groups_) links[name] = symbols_.at(child.get()).header;
    for (const auto& [name, dataset] : group.datasets_) links[name] = pack_dataset(dataset);
    Symbols& symbols = symbols_[&group];
    Packer names;
    names.zeros(8);  // the empty name is before all others
    std::vector<uint64_t> offsets;
    for (const auto& [name, address] : links) {
      offsets.push_back(names.size());
      names.put(name).zeros(1).pad(8);
    }
    symbols.heap = pack_heap(names.bytes());
    symbols.tree = pack_tree(pack_leaves(links, offsets));
    Packer message;
    message.u64(symbols.tree).u64(symbols.heap);
    std::vector<Message> messages = {{17, message.bytes()}};
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

  // Level by level, until one node is left.
  uint64_t pack_tree(std::vector<Child> children) {
    for (uint8_t level = 0;; ++level) {
      children = pack_level(children, level);
      if (children.size() == 1) return children.front().address;
    }
  }

  std::vector<Child> pack_level(const std::vector<Child>& children, uint8_t level) {
    const size_t wide = 2 * node_k;
    const size_t count = std::max<size_t>(1, (children.size() + wide - 1) / wide);
    const uint64_t first = here();
    std::vector<Child> nodes;
    uint64_t last_name = 0;  // before the first name of a node
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = i * wide, used = std::min(wide, children.size() - begin);
      nodes.push_back({here(), 0});
      out_.put("TREE").u8(0).u8(level).u16(static_cast<uint16_t>(used));
      out_.u64(i == 0 ? nowhere : first + (i - 1) * node_size);
      out_.u64(i + 1 == count ? nowhere : first + (i + 1) * node_size);
      out_.u64(last_name);
      for (size_t c = begin; c < begin + used; ++c) {
        last_name = children[c].last_name;
        out_.u64(children[c].address).u64(last_name);
      }
      out_.zeros((wide - used) * 16);
      nodes.back().last_name = last_name;
    }
    return nodes;
  }

  uint64_t pack_dataset(const NewDataset& dataset) {
    const Tensor& tensor = dataset.tensor_;
    Packer fill, layout;
    fill.u8(2).u8(2).u8(2).u8(1).u32(0);  // nothing to fill with
    const auto place = places_.find(&dataset);
    layout.u8(3).u8(1).u64(place == places_.end() ? nowhere : place->second).u64(tensor.bytes());
    std::vector<Message> messages = {{1, space_message(tensor.shape().dims())},
                                     {3, type_message(tensor.dtype())},
                                     {5, fill.bytes()},
                                     {8, layout.bytes()}};
    pack_attributes(dataset, messages);
    return pack_header(messages);
  }

  void pack_attributes(const NewObject& object, std::vector<Message>& messages) {
    for (const auto& [name, attribute] : object.attributes_) {
      const std::string message = pack_attribute(name, attribute);
      require(message.size() < 65528, "hdf5: the attribute ", in_quotes(name), " has ",
              message.size(), " bytes, more than the 64 KiB that fit");
      messages.push_back({12, message});
    }
    require(messages.size() < 65536, "hdf5: an object has too many attributes");
  }

  std::string pack_attribute(const std::string& name, const NewObject::Attribute& attribute) {
    if (!attribute.is_text)
      return attribute_message(name, type_message(attribute.numbers.dtype()),
                               space_message(attribute.numbers.shape().dims()),
                               bytes_of(attribute.numbers));
    const std::vector<std::string>& texts = attribute.texts;
    const std::string space =
        space_message(attribute.scalar ? Dims{} : Dims{static_cast<int64_t>(texts.size())});
    Packer data;
    if (attribute.text == Text::variable) {
      for (const std::string& text : texts) {
        const auto place = text.empty() ? TextPlace{} : text_places_.at(&text);
        data.u32(static_cast<uint32_t>(text.size())).u64(place.heap).u32(place.number);
      }
      return attribute_message(name, variable_text_type(), space, data.bytes());
    }
    const size_t size = longest(texts);
    for (const std::string& text : texts) data.put(text).zeros(size - text.size());
    return attribute_message(name, fixed_text_type(size), space, data.bytes());
  }

  uint64_t pack_header(const std::vector<Message>& messages) {
    const uint64_t address = here();
    Packer parts;
    for (const Message& message : messages) {
      parts.u16(message.type).u16(static_cast<uint16_t>(aligned(message.data.size(), 8)));
      parts.zeros(4).put(message.data).pad(8);
    }
    out_.u8(1).u8(0).u16(static_cast<uint16_t>(messages.size())).u32(1);
    out_.u32(static_cast<uint32_t>(parts.size())).u32(0).put(parts.bytes());
    return address;
  }

  void pack_superblock(const Symbols& root) {
    Packer out;
    out.put("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0);
    out.u16(leaf_k).u16(node_k).u32(0).u64(0).u64(nowhere).u64(here()).u64(nowhere);
    out.u64(0).u64(root.header).u32(1).u32(0).u64(root.tree).u64(root.heap);
    superblock_ = out.bytes();
  }

  std::vector<std::pair<uint64_t, Tensor>> tensors_;
  std::map<const NewDataset*, uint64_t> places_;
  std::map<const NewGroup*, Symbols> symbols_;
  std::map<const std::string*, TextPlace> text_places_;
  std::vector<const NewGroup*> groups_;  // a group before those in it
  uint64_t data_end_ = superblock_size, base_ = 0;
  Packer heap_;
  uint32_t heap_count_ = 0;
  Packer out_;  // all structures but the superblock
  std::string superblock_;
};

void NewObject::attribute(const std::string& name, const Tensor& value) {
  attributes_[name] = {.numbers = value};
}

void NewObject::attribute(const std::string& name, const std::string& value, Text text) {
  attributes_[name] = {.texts = {value}, .is_text = true, .scalar = true, .text = text};
}

void NewObject::attribute(const std::string& name, const std::vector<std::string>& values,
                          Text text) {
  attributes_[name] = {.texts = values, .is_text = true, .text = text};
}

// Pieces of nearly equal length, the longer ones first; an empty list is an empty array of floats.
void NewObject::texts(const std::string& name, const std::vector<std::string>& values) {
  if (values.empty()) return attribute(name, Tensor(DType::f64, {0}));
  const size_t size = longest(values);
  require(size <= max_attribute, "hdf5: a string of ", size, " bytes in ", in_quotes(name),
          " does not fit in an attribute");
  size_t pieces = 1;
  while ((values.size() + pieces - 1) / pieces * size > max_attribute) ++pieces;
  if (pieces == 1) return attribute(name, values);
  auto at = values.begin();
  for (size_t i = 0; i < pieces; ++i) {
    const size_t count = values.size() / pieces + (i < values.size() % pieces ? 1 : 0);
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
