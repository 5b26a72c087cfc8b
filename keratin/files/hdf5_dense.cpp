#include <bit>

#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using files::as_text;

uint64_t log2_of(uint64_t x) { return static_cast<uint64_t>(std::bit_width(x)) - 1; }
// The number of bytes of a number up to `limit`.
size_t bytes_for(uint64_t limit) { return log2_of(std::max<uint64_t>(limit, 1)) / 8 + 1; }

// III.G: a heap addressed by a table of blocks, whose size doubles with each row.
class FractalHeap {
 public:
  FractalHeap(const Source& source, uint64_t address) : source_(source) {
    constexpr uint64_t header_size = 146;
    Cursor at = source.cursor(source.take_checked(address, header_size, what), what);
    source.check(as_text(at.take(4)) == "FRHP" && at.u8() == 0, "a fractal heap is damaged");
    id_size_ = at.u16();
    source.check(at.u16() == 0, "a fractal heap with filters is not read");
    at.skip(1);
    const uint32_t max_object = at.u32();
    at.skip(uint64_t{12} * 8);
    width_ = at.u16();
    start_ = at.u64();
    const uint64_t max_direct = at.u64();
    const uint16_t bits = at.u16();
    at.skip(2);
    root_ = at.u64();
    root_rows_ = at.u16();
    source.check(std::has_single_bit(width_) && std::has_single_bit(start_) &&
                     std::has_single_bit(max_direct) && start_ <= max_direct &&
                     max_direct <= uint64_t{1} << 40 && bits > 0 && bits <= 64 && max_object > 0 &&
                     log2_of(start_) + log2_of(width_) < bits,
                 "a fractal heap is damaged");
    bits_ = bits;
    offset_size_ = (bits + 7u) / 8;
    length_size_ = std::min(bytes_for(max_direct), bytes_for(max_object));
    direct_rows_ = log2_of(max_direct) - log2_of(start_) + 2;
  }

  size_t id_size() const { return id_size_; }

  Bytes find(Bytes id) const {
    Cursor at = source_.cursor(id, "the id of an object in a heap");
    const int kind = at.u8() >> 4;
    source_.check(kind == 0, "an object of a fractal heap is huge or tiny, which is not read");
    const uint64_t offset = at.unsigned_of(offset_size_), length = at.unsigned_of(length_size_);
    return root_rows_ == 0 ? in_block(root_, start_, offset, length) : in_table(offset, length);
  }

 private:
  // Finds an object in a block. Offsets include the header of the block.
  Bytes in_block(uint64_t block, uint64_t size, uint64_t offset, uint64_t length) const {
    source_.check(offset < size && length <= size - offset && block < source_.file().size(),
                  "an object lies outside of its fractal heap");
    return source_.take(block + offset, length, what);
  }

  Bytes in_table(uint64_t offset, uint64_t length) const {
    uint64_t table = root_, rows = root_rows_;
    source_.check(bits_ == 64 || offset >> bits_ == 0,
                  "an object lies outside of its fractal heap");
    while (true) {
      const uint64_t row_start = start_ * width_;
      const uint64_t row = offset < row_start ? 0 : log2_of(offset / row_start) + 1;
      const uint64_t block_size = row == 0 ? start_ : start_ << (row - 1);
      if (row > 0) offset -= row_start << (row - 1);
      source_.check(row < rows, "an object lies outside of its fractal heap");
      const uint64_t entry = row * width_ + offset / block_size;
      offset %= block_size;
      Cursor at = source_.peek(table, what);
      source_.check(as_text(at.take(4)) == "FHIB", "a fractal heap is damaged");
      at.skip(1 + 8 + offset_size_ + entry * 8);
      const uint64_t block = at.u64();
      if (row < direct_rows_) return in_block(block, block_size, offset, length);
      // Nested tables must get smaller, so that the loop ends.
      source_.check(block_size > row_start, "a fractal heap is damaged");
      rows = log2_of(block_size) - log2_of(row_start) + 1;
      table = block;
    }
  }

  static constexpr std::string_view what = "a fractal heap";
  const Source& source_;
  size_t id_size_ = 0, offset_size_ = 0, length_size_ = 0;
  uint64_t width_ = 0, start_ = 0, root_ = 0, root_rows_ = 0, direct_rows_ = 0, bits_ = 0;
};

// III.A.2: a B-tree of version 2.
class Tree {
 public:
  Tree(const Source& source, uint64_t address, uint8_t type) : source_(source), type_(type) {
    constexpr uint64_t header_size = 38;
    Cursor at = source.cursor(source.take_checked(address, header_size, what), what);
    source.check(as_text(at.take(4)) == "BTHD" && at.u8() == 0 && at.u8() == type,
                 "a B-tree is damaged");
    node_size_ = at.u32();
    record_size_ = at.u16();
    depth_ = at.u16();
    at.skip(2);
    root_ = at.u64();
    root_count_ = at.u16();
    source.check(record_size_ > 0 && node_size_ >= 10u + record_size_ && depth_ < 16,
                 "a B-tree is damaged");
    compute_pointer_sizes();
  }

  size_t record_size() const { return record_size_; }

  std::vector<Bytes> records() const {
    std::vector<Bytes> found;
    struct Step {
      uint64_t address, count;
      size_t depth;
    };
    std::vector<Step> todo;
    if (root_ != undefined_address) todo.push_back({root_, root_count_, depth_});
    while (!todo.empty()) {
      const Step step = todo.back();
      todo.pop_back();
      const size_t pointer = step.depth == 0 ? 0 : pointer_sizes_[step.depth];
      const uint64_t size = 10 + step.count * record_size_ + (step.count + 1) * pointer;
      source_.check(size <= node_size_, "a B-tree is damaged");
      Cursor at = source_.cursor(source_.take_checked(step.address, size, what), what);
      source_.check(as_text(at.take(4)) == (step.depth == 0 ? "BTLF" : "BTIN") && at.u8() == 0 &&
                        at.u8() == type_,
                    "a B-tree is damaged");
      for (uint64_t i = 0; i < step.count; ++i) found.push_back(at.take(record_size_));
      for (uint64_t i = 0; step.depth > 0 && i <= step.count; ++i) {
        const uint64_t child = at.u64(), count = at.unsigned_of(count_size_);
        at.skip(pointer - 8 - count_size_);
        todo.push_back({child, count, step.depth - 1});
      }
    }
    return found;
  }

 private:
  // Computes the size of child pointers at each depth: the record counts in them have as many bytes
  // as the largest possible subtree needs.
  void compute_pointer_sizes() {
    const uint64_t leaf = (node_size_ - 10) / record_size_;
    count_size_ = bytes_for(leaf);
    pointer_sizes_ = {0};
    uint64_t below = leaf;
    size_t total_size = 0;
    for (size_t depth = 1; depth <= depth_; ++depth) {
      const size_t pointer = 8 + count_size_ + total_size;
      source_.check(node_size_ > 10 + pointer, "a B-tree is damaged");
      const uint64_t fit = (node_size_ - 10 - pointer) / (record_size_ + pointer);
      source_.check(!__builtin_mul_overflow(fit + 1, below, &below) &&
                        !__builtin_add_overflow(below, fit, &below),
                    "a B-tree is damaged");
      pointer_sizes_.push_back(pointer);
      total_size = bytes_for(below);
    }
  }

  static constexpr std::string_view what = "a B-tree";
  const Source& source_;
  uint8_t type_;
  uint64_t node_size_ = 0, root_ = 0, root_count_ = 0;
  size_t record_size_ = 0, depth_ = 0, count_size_ = 0;
  std::vector<size_t> pointer_sizes_;
};

}  // namespace

std::vector<Bytes> read_dense(const Source& source, uint64_t heap_address, uint64_t tree_address,
                              DenseKind kind) {
  const FractalHeap heap(source, heap_address);
  const bool links = kind == DenseKind::links;
  const Tree tree(source, tree_address, links ? 5 : 8);
  // Records of links begin with a hash before the object's id in the heap, those of attributes with
  // the id.
  const size_t before = links ? 4 : 0;
  source.check(tree.record_size() >= before + heap.id_size(), "a B-tree is damaged");
  std::vector<Bytes> objects;
  for (const Bytes record : tree.records())
    objects.push_back(heap.find(record.subspan(before, heap.id_size())));
  return objects;
}

}  // namespace keratin::hdf5
