#include <algorithm>

#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using files::as_text;
using files::in_quotes;

constexpr size_t entry_size = 40;

// III.D: a local heap, which has the names of a group's links.
Bytes read_local_heap(const Source& source, uint64_t address) {
  Cursor at = source.cursor(source.take(address, 32, "a local heap"), "a local heap");
  source.check(as_text(at.take(4)) == "HEAP" && at.u8() == 0, "a local heap is damaged");
  at.skip(3);
  const uint64_t size = at.u64();
  at.skip(8);
  return source.take(at.u64(), size, "the names of a local heap");
}

std::string_view name_at(const Source& source, Bytes heap, uint64_t offset) {
  source.check(offset < heap.size(), "a name lies outside of its heap");
  const std::string_view rest = as_text(heap.subspan(offset));
  const size_t end = rest.find('\0');
  source.check(end != rest.npos, "a name is not terminated in its heap");
  return rest.substr(0, end);
}

// III.C: a symbol table node, which is a leaf of a group's B-tree.
void read_symbol_node(const Source& source, uint64_t address, Bytes heap, uint64_t& name_bytes,
                      std::vector<Link>& links) {
  Cursor head = source.cursor(source.take(address, 8, "a symbol table node"), "a symbol table");
  source.check(as_text(head.take(4)) == "SNOD" && head.u8() == 1, "a symbol table is damaged");
  head.skip(1);
  const uint64_t count = head.u16();
  Cursor at = source.cursor(source.take(address + 8, count * entry_size, "a symbol table"),
                            "a symbol table");
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view name = name_at(source, heap, at.u64());
    name_bytes += name.size();
    source.check(name_bytes <= heap.size(), "the names of a group overlap");
    const uint64_t target = at.u64();
    const uint32_t cache_type = at.u32();
    source.check(cache_type != 2, in_quotes(name), " is a soft link; only hard links are read");
    at.skip(20);
    links.push_back({std::string(name), target});
  }
}

// III.A.1: the links of a group's B-tree, in order.
std::vector<Link> read_symbol_table(const Source& source, Bytes message) {
  Cursor addresses = source.cursor(message, "a symbol table message");
  const uint64_t tree = addresses.u64();
  const Bytes heap = read_local_heap(source, addresses.u64());
  std::vector<Link> links;
  uint64_t name_bytes = 0;
  struct Step {
    uint64_t address;
    int level;  // -1 for a symbol table node; not known at the root
    bool root;
  };
  std::vector<Step> todo = {{tree, 0, true}};
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    if (step.level < 0) {
      read_symbol_node(source, step.address, heap, name_bytes, links);
      continue;
    }
    Cursor head = source.cursor(source.take(step.address, 24, "a B-tree"), "a B-tree");
    source.check(as_text(head.take(4)) == "TREE" && head.u8() == 0,
                 "the B-tree of a group is damaged");
    const int level = head.u8();
    source.check(step.root || level == step.level, "the levels of a B-tree are damaged");
    const uint64_t count = head.u16();
    Cursor at = source.cursor(source.take(step.address + 24, count * 16, "a B-tree"), "a B-tree");
    const size_t first = todo.size();
    for (uint64_t i = 0; i < count; ++i) {
      at.skip(8);
      todo.push_back({at.u64(), level - 1, false});
    }
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
  return links;
}

// IV.A.2.c: the heap and B-tree of links that do not fit in the header.
struct LinkInfo {
  bool ordered = false;
  uint64_t heap = undefined_address, tree = undefined_address;
};

LinkInfo parse_link_info(const Source& source, Bytes data) {
  Cursor at = source.cursor(data, "a link info message");
  source.check(at.u8() == 0, "an unknown version of link info");
  const uint8_t flags = at.u8();
  LinkInfo info{.ordered = (flags & 1) != 0};
  if (info.ordered) at.skip(8);
  info.heap = at.u64();
  info.tree = at.u64();
  return info;
}

}  // namespace

// IV.A.2.g: the link message.
OrderedLink parse_link(const Source& source, Bytes data) {
  Cursor at = source.cursor(data, "a link");
  source.check(at.u8() == 1, "an unknown version of a link");
  const uint8_t flags = at.u8();
  const uint8_t type = (flags & 8) != 0 ? at.u8() : uint8_t{0};
  OrderedLink link;
  if ((flags & 4) != 0) link.order = at.u64();
  if ((flags & 16) != 0) at.skip(1);
  link.name = as_text(at.take(at.unsigned_of(size_t{1} << (flags & 3))));
  const std::string_view kind = type == 1    ? "a soft link"
                                : type == 64 ? "an external link"
                                             : "a user-defined link";
  source.check(type == 0, in_quotes(link.name), " is ", kind, "; only hard links are read");
  link.address = at.u64();
  return link;
}

std::vector<Link> read_links(const Source& source, const std::vector<Message>& messages) {
  if (const Message* table = find_message(messages, MessageType::symbol_table))
    return read_symbol_table(source, table->data);
  LinkInfo info;
  if (const Message* message = find_message(messages, MessageType::link_info))
    info = parse_link_info(source, message->data);
  std::vector<OrderedLink> links;
  for (const Message& message : messages)
    if (message.type == MessageType::link) links.push_back(parse_link(source, message.data));
  if (info.heap != undefined_address)
    for (const Bytes data : read_dense(source, info.heap, info.tree, DenseKind::links))
      links.push_back(parse_link(source, data));
  std::sort(links.begin(), links.end(), [&](const OrderedLink& a, const OrderedLink& b) {
    return info.ordered && a.order != b.order ? a.order < b.order : a.name < b.name;
  });
  return {links.begin(), links.end()};
}

}  // namespace keratin::hdf5
