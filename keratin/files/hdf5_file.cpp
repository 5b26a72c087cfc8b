#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {

using files::in_quotes;

// A group or a dataset, with the contents of its header.
struct Node {
  const Node* parent = nullptr;  // the first one, if links of several groups lead to a dataset
  std::string name;
  std::vector<Message> messages;
  std::vector<StoredAttribute> attributes;
  bool is_group = false;
  size_t depth = 0;
  std::vector<std::string> names;
  std::map<std::string, const Node*, std::less<>> children;
};

namespace {

std::string path_of(const Node& node) {
  std::string path;
  for (const Node* at = &node; at->parent != nullptr; at = at->parent)
    path.insert(0, at->name).insert(0, 1, '/');
  return path.empty() ? "/" : path;
}

std::string quoted_path(const Node& node) { return in_quotes(path_of(node)); }

bool has(const Node& node, MessageType type) {
  return find_message(node.messages, type) != nullptr;
}

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.find_first_of(std::string_view("/\0", 2)) == name.npos &&
         name != "." && name != "..";
}

}  // namespace

// All groups of a file and the headers of all objects, read when the file is opened. A group has
// one parent, so it cannot contain itself and every path ends.
class Contents {
 public:
  Contents(FileView file, Limits limits) : source(std::move(file), limits) {
    root_ = &add(read_superblock(source), nullptr, "");
    source.check(root_->is_group, "the root is not a group");
    for (size_t i = 0; i < todo_.size(); ++i) fill(*todo_[i]);
  }

  const Node& root() const { return *root_; }

  Source source;
  mutable GlobalHeap heap;

 private:
  Node& add(uint64_t address, const Node* parent, const std::string& name) {
    const auto [entry, is_new] = nodes_.try_emplace(address);
    Node& node = entry->second;
    if (!is_new) {
      if (node.is_group) refuse("two links lead to the group ", quoted_path(node));
      return node;
    }
    node.parent = parent;
    node.name = name;
    node.depth = parent == nullptr ? 0 : parent->depth + 1;
    node.messages = read_header(source, address);
    using enum MessageType;
    node.is_group = !has(node, layout) && (has(node, symbol_table) || has(node, link_info) ||
                                           has(node, link) || has(node, group_info));
    read_attributes(node);
    if (node.is_group) todo_.push_back(&node);
    return node;
  }

  void fill(Node& group) {
    const Limits& limits = source.limits();
    if (group.depth >= limits.depth) refuse("groups are nested more than ", limits.depth, " deep");
    for (Link& link : read_links(source, group.messages)) {
      if (++links_ > limits.objects) refuse("the file has more than ", limits.objects, " objects");
      if (!is_valid_name(link.name))
        refuse(quoted_path(group), " has a link with the impossible name ", in_quotes(link.name));
      const Node& child = add(link.address, &group, link.name);
      if (!group.children.emplace(link.name, &child).second)
        refuse(quoted_path(group), " has two links named ", in_quotes(link.name));
      group.names.push_back(std::move(link.name));
    }
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(source.name(), ": ", parts...);
  }

  void read_attributes(Node& node) {
    for (const Message& message : node.messages) {
      if (message.type == MessageType::attribute) add_attribute(node, message.data, message.shared);
      if (message.type != MessageType::attribute_info) continue;
      Cursor at = source.cursor(message.data, "an attribute info message");
      source.check(at.u8() == 0, "an unknown version of attribute info");
      if ((at.u8() & 1) != 0) at.skip(2);
      const uint64_t heap_address = at.u64(), tree = at.u64();
      if (heap_address == undefined_address) continue;
      for (const Bytes data : read_dense(source, heap_address, tree, DenseKind::attributes))
        add_attribute(node, data, false);
    }
    std::set<std::string_view> seen;
    for (const StoredAttribute& attribute : node.attributes)
      if (!seen.insert(attribute.name).second)
        refuse(quoted_path(node), " has two attributes named ", in_quotes(attribute.name));
  }

  void add_attribute(Node& node, Bytes data, bool shared) {
    if (shared) refuse(quoted_path(node), " has a shared attribute, which is not read");
    node.attributes.push_back(parse_attribute(source, data));
  }

  std::map<uint64_t, Node> nodes_;  // by the address of their headers
  std::vector<Node*> todo_;
  size_t links_ = 0;
  const Node* root_ = nullptr;
};

const Tensor& Value::tensor() const {
  require(!is_string(), "hdf5: expected numbers, got strings");
  return std::get<Tensor>(data_);
}

const std::vector<std::string>& Value::strings() const {
  require(is_string(), "hdf5: expected strings, got numbers");
  return std::get<std::vector<std::string>>(data_);
}

const std::string& Value::string() const {
  require(strings().size() == 1, "hdf5: expected one string, got ", strings().size());
  return strings().front();
}

template <class... Parts>
void Object::check(bool condition, const Parts&... parts) const {
  if (!condition) [[unlikely]]
    file_->source.check(false, quoted_path(*node_), " ", parts...);
}

std::string Object::path() const { return path_of(*node_); }

std::vector<std::string> Object::attribute_names() const {
  std::vector<std::string> names;
  for (const StoredAttribute& attribute : node_->attributes) names.push_back(attribute.name);
  return names;
}

bool Object::has_attribute(std::string_view name) const {
  return std::any_of(node_->attributes.begin(), node_->attributes.end(),
                     [&](const StoredAttribute& a) { return a.name == name; });
}

Value Object::attribute(std::string_view name) const {
  for (const StoredAttribute& attribute : node_->attributes)
    if (attribute.name == name)
      return decode_attribute(file_->source, file_->heap, attribute,
                              "the attribute " + in_quotes(name) + " of " + quoted_path(*node_));
  check(false, "has no attribute ", in_quotes(name));
  throw InternalError("unreachable");
}

std::vector<std::string> Object::strings(std::string_view name) const {
  std::vector<std::string> all;
  const auto append = [&](const std::string& attribute_name) {
    const Value value = attribute(attribute_name);
    // Keras writes an empty list as an empty array of floats.
    if (!value.is_string() && value.tensor().count() == 0) return;
    check(value.is_string(), "has numbers as ", in_quotes(attribute_name), ", expected strings");
    all.insert(all.end(), value.strings().begin(), value.strings().end());
  };
  const std::string whole(name);
  if (has_attribute(whole) || !has_attribute(whole + "0")) {
    append(whole);
    return all;
  }
  for (size_t i = 0; has_attribute(whole + std::to_string(i)); ++i)
    append(whole + std::to_string(i));
  return all;
}

Dims Dataset::dims() const {
  return parse_dataset(file_->source, node_->messages, quoted_path(*node_)).space.dims;
}

bool Dataset::is_string() const {
  return parse_dataset(file_->source, node_->messages, quoted_path(*node_)).type.is_string();
}

DType Dataset::dtype() const {
  const Datatype type = parse_dataset(file_->source, node_->messages, quoted_path(*node_)).type;
  check(!type.is_string(), "has strings, expected numbers");
  return type.dtype();
}

Tensor Dataset::view() const {
  const Value all = value();
  check(!all.is_string(), "has strings, expected numbers");
  return all.tensor();
}

Tensor Dataset::read() const {
  const StoredDataset dataset = parse_dataset(file_->source, node_->messages, quoted_path(*node_));
  const bool copies_bytes = !dataset.chunked && dataset.type.native() && dataset.bytes() > 0;
  if (!copies_bytes) return view();
  Tensor copy(dataset.type.dtype(), dataset.space.dims);
  file_->source.file().copy_to({copy.buffer().data(), copy.bytes()}, dataset.begin.value_or(0));
  return copy;
}

Value Dataset::value() const {
  const Source& source = file_->source;
  const std::string who = quoted_path(*node_);
  const StoredDataset dataset = parse_dataset(source, node_->messages, who);
  const Datatype& type = dataset.type;
  const Shape shape(dataset.space.dims);
  FileView raw = source.file();
  uint64_t begin = dataset.begin.value_or(0);
  if (dataset.chunked) raw = FileView(source.name(), unpack_chunks(source, dataset, who));
  if (type.native()) return Value(raw.tensor(begin, type.dtype(), shape));
  const Bytes bytes = raw.range(begin, dataset.bytes(), who).bytes();
  if (type.is_string())
    return {dataset.space.dims,
            decode_strings(source, file_->heap, bytes, type, dataset.space.count, who)};
  return Value(decode_numbers(bytes, type, shape, source.name() + ": " + who));
}

const std::vector<std::string>& Group::names() const { return node_->names; }

const Node* Group::find(std::string_view path) const {
  const Node* node = node_;
  while (node != nullptr && !path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const auto child = node->children.find(path.substr(0, slash));
    node = child == node->children.end() ? nullptr : child->second;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return node;
}

bool Group::has_group(std::string_view path) const {
  const Node* node = find(path);
  return node != nullptr && node->is_group;
}

bool Group::has_dataset(std::string_view path) const {
  const Node* node = find(path);
  return node != nullptr && find_message(node->messages, MessageType::layout) != nullptr;
}

Group Group::group(std::string_view path) const {
  check(has_group(path), "has no group ", in_quotes(path));
  return {file_, *find(path)};
}

Dataset Group::dataset(std::string_view path) const {
  check(has_dataset(path), "has no dataset ", in_quotes(path));
  return {file_, *find(path)};
}

File::File(FileView file, Limits limits)
    : contents_(std::make_shared<const Contents>(std::move(file), limits)) {}

Group File::root() const { return {contents_, contents_->root()}; }

}  // namespace keratin::hdf5
