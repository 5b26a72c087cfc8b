#include <algorithm>

#include "keratin/files/compression.h"
#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using files::as_text;

// The index of a dataset's chunks.
struct Index {
  uint8_t kind = 0;  // the index type of layout version 4, or 0 for a B-tree of version 1
  uint64_t address = undefined_address;
  uint64_t size = 0;  // of the chunk, if it is the only one and filtered
  uint32_t skipped = 0;
  uint8_t page_bits = 0;
};

class ChunkReader {
 public:
  ChunkReader(const Source& source, const StoredDataset& dataset, const std::string& who)
      : source_(source), dataset_(dataset), who_(who), rank_(dataset.space.dims.size()) {
    filtered_ = find_message(dataset.messages, MessageType::filters) != nullptr;
  }

  ChunkLayout run() {
    Cursor at = source_.cursor(find_message(dataset_.messages, MessageType::layout)->data,
                               "the layout of a dataset");
    const uint8_t version = at.u8();
    at.skip(1);
    const Index index = version == 3 ? parse_v3(at) : parse_v4(at);
    count_chunks();
    if (dataset_.space.count == 0) return out_;
    source_.check(index.address != undefined_address, who_, " has no data");
    read_index(index);
    check_chunks();
    return out_;
  }

 private:
  Index parse_v3(Cursor& at) {
    const uint8_t dimensions = at.u8();
    Index index{.address = at.u64()};
    parse_dims(at, dimensions, 4);
    return index;
  }

  Index parse_v4(Cursor& at) {
    const uint8_t flags = at.u8(), dimensions = at.u8(), dim_size = at.u8();
    source_.check(dim_size >= 1 && dim_size <= 8, who_, " has a damaged layout");
    source_.check((flags & 1) == 0 || !filtered_, who_,
                  " has unfiltered chunks at its edges, which are not read");
    parse_dims(at, dimensions, dim_size);
    Index index{.kind = at.u8()};
    if (index.kind == 1 && (flags & 2) != 0) {
      index.size = at.u64();
      index.skipped = at.u32();
    } else if (index.kind == 1) {
      index.size = out_.bytes;
    } else if (index.kind == 3) {
      index.page_bits = at.u8();
    } else {
      source_.check(index.kind == 2, who_, " has chunks that can grow (an index of kind ",
                    int{index.kind}, "), which are not read");
    }
    index.address = at.u64();
    return index;
  }

  // Reads the dims of a chunk; the last number is the size of an element.
  void parse_dims(Cursor& at, size_t dimensions, size_t dim_size) {
    source_.check(dimensions == rank_ + 1, who_, " has chunks of another rank than its own");
    out_.bytes = dataset_.type.size;
    for (size_t i = 0; i < rank_; ++i) {
      const uint64_t dim = at.unsigned_of(dim_size);
      source_.check(dim > 0 && !__builtin_mul_overflow(out_.bytes, dim, &out_.bytes), who_,
                    " has chunks of an impossible size");
      out_.dims.push_back(dim);
    }
    source_.check(at.unsigned_of(dim_size) == dataset_.type.size, who_,
                  " has chunks of elements of another size");
  }

  void count_chunks() {
    for (size_t i = 0; i < rank_; ++i) {
      const auto dim = static_cast<uint64_t>(dataset_.space.dims[i]);
      grid_.push_back(dim / out_.dims[i] + (dim % out_.dims[i] != 0 ? 1 : 0));
      expected_ *= grid_.back();
    }
  }

  void read_index(const Index& index) {
    if (index.kind == 0) return read_tree(index.address);
    if (index.kind == 3) return read_fixed_array(index);
    source_.check(index.kind == 2 || expected_ == 1, who_, " has more than its single chunk");
    source_.check(index.kind == 1 || !filtered_, who_, " has a damaged layout");
    const uint64_t size = index.kind == 1 ? index.size : out_.bytes;
    source_.check(expected_ <= source_.file().size() / std::max<uint64_t>(size, 1), who_,
                  " claims ", expected_, " chunks, more than the file has");
    for (uint64_t i = 0; i < expected_; ++i)
      out_.chunks.push_back({first_element(i), index.address + i * size, size, index.skipped});
  }

  // The index of the first element of the i-th chunk.
  std::vector<uint64_t> first_element(uint64_t i) const {
    std::vector<uint64_t> begin(rank_);
    for (size_t axis = rank_; axis-- > 0;) {
      begin[axis] = i % grid_[axis] * out_.dims[axis];
      i /= grid_[axis];
    }
    return begin;
  }

  // III.A.1: a B-tree of version 1.
  void read_tree(uint64_t root) {
    const uint64_t key_size = 8 + 8 * (rank_ + 1);
    struct Step {
      uint64_t address;
      int level;
    };
    std::vector<Step> todo = {{root, -1}};
    Source own(source_.file(), source_.limits());  // counts anew: a dataset may be read twice
    while (!todo.empty()) {
      const Step step = todo.back();
      todo.pop_back();
      Cursor head = own.cursor(own.take(step.address, 24, "a B-tree"), "a B-tree");
      own.check(as_text(head.take(4)) == "TREE" && head.u8() == 1, "the B-tree of ", who_,
                " is damaged");
      const int level = head.u8();
      own.check(step.level < 0 || level == step.level, "the levels of a B-tree are damaged");
      const uint64_t count = head.u16();
      const Bytes body = own.take(step.address + 24, count * (key_size + 8), "a B-tree");
      Cursor at = own.cursor(body, "a B-tree");
      for (uint64_t i = 0; i < count; ++i) {
        Chunk chunk{.size = at.u32(), .skipped = at.u32()};
        for (size_t axis = 0; axis < rank_; ++axis) chunk.begin.push_back(at.u64());
        at.skip(8);
        chunk.address = at.u64();
        if (level > 0)
          todo.push_back({chunk.address, level - 1});
        else
          out_.chunks.push_back(std::move(chunk));
      }
    }
  }

  // VII.C: an array of chunk addresses, divided into pages if it is long.
  void read_fixed_array(const Index& index) {
    Source own(source_.file(), source_.limits());
    constexpr std::string_view what = "the index of chunks";
    Cursor head = own.cursor(own.take_checked(index.address, 28, what), what);
    own.check(as_text(head.take(4)) == "FAHD" && head.u8() == 0, what, " is damaged");
    head.skip(1);
    const size_t entry = head.u8();
    const uint8_t page_bits = head.u8();
    const uint64_t count = head.u64(), block = head.u64();
    own.check(count == expected_ && page_bits == index.page_bits && page_bits < 32 &&
                  entry == (filtered_ ? entry_size() : 8),
              what, " is damaged");
    own.check(count <= own.file().size() / entry, who_, " claims ", count,
              " chunks, more than the file has");
    const uint64_t page = uint64_t{1} << page_bits;
    if (count <= page) {
      Cursor at = own.cursor(own.take_checked(block, 18 + count * entry, what), what);
      check_block(own, at);
      read_entries(at, 0, count, entry);
      return;
    }
    const uint64_t pages = (count + page - 1) / page, bitmap = (pages + 7) / 8;
    Cursor at = own.cursor(own.take_checked(block, 14 + bitmap + 4, what), what);
    check_block(own, at);
    for (uint64_t i = 0, begin = block + 14 + bitmap + 4; i < pages; ++i) {
      const uint64_t here = std::min(page, count - i * page);
      Cursor entries = own.cursor(own.take_checked(begin, here * entry + 4, what), what);
      read_entries(entries, i * page, here, entry);
      begin += here * entry + 4;
    }
  }

  void check_block(const Source& own, Cursor& at) const {
    own.check(as_text(at.take(4)) == "FADB" && at.u8() == 0, "the index of chunks is damaged");
    at.skip(9);
  }

  // An entry of filtered chunks: address, size and skipped filters. The size field has one byte
  // more than an unfiltered chunk's size needs.
  size_t entry_size() const { return 8 + size_bytes() + 4; }
  size_t size_bytes() const {
    const auto log2 = static_cast<size_t>(std::bit_width(out_.bytes)) - 1;
    return std::min<size_t>(8, 1 + (log2 + 8) / 8);
  }

  void read_entries(Cursor& at, uint64_t first, uint64_t count, size_t entry) {
    for (uint64_t i = 0; i < count; ++i) {
      Chunk chunk{first_element(first + i), at.u64(), out_.bytes, 0};
      if (entry > 8) {
        chunk.size = at.unsigned_of(size_bytes());
        chunk.skipped = at.u32();
      }
      out_.chunks.push_back(std::move(chunk));
    }
  }

  // Checks that each chunk occurs once and lies in the file.
  void check_chunks() const {
    source_.check(out_.chunks.size() == expected_, who_, " has ", out_.chunks.size(), " of ",
                  expected_, " chunks");
    const uint64_t file_size = source_.file().size();
    std::vector<bool> seen(expected_);
    uint64_t total = 0;
    for (const Chunk& chunk : out_.chunks) {
      uint64_t position = 0;
      for (size_t axis = 0; axis < rank_; ++axis) {
        const uint64_t step = chunk.begin[axis] / out_.dims[axis];
        source_.check(chunk.begin[axis] % out_.dims[axis] == 0 && step < grid_[axis], who_,
                      " has a chunk at an impossible position");
        position = position * grid_[axis] + step;
      }
      source_.check(!seen[position], who_, " has a chunk twice");
      seen[position] = true;
      source_.check(chunk.address <= file_size && chunk.size <= file_size - chunk.address, who_,
                    " has a chunk outside of the file");
      total += chunk.size;
      source_.check(total <= file_size, who_, " has chunks that overlap");
    }
    check_unpacked(total);
  }

  void check_unpacked(uint64_t total) const {
    const Limits& limits = source_.limits();
    const uint64_t bytes = dataset_.bytes();
    source_.check(bytes / files::max_inflation <= total, who_, " claims ", bytes,
                  " bytes, more than ", total, " can unpack to");
    source_.check(bytes <= limits.unpacked || bytes / limits.ratio <= total, who_, " unpacks to ",
                  bytes, " bytes, more than ", limits.ratio, " times its size");
  }

  const Source& source_;
  const StoredDataset& dataset_;
  const std::string& who_;
  size_t rank_;
  bool filtered_ = false;
  std::vector<uint64_t> grid_;  // chunks along each axis
  uint64_t expected_ = 1;
  ChunkLayout out_;
};

// Copies the elements of a chunk that lie inside the dataset, row by row.
void copy_chunk(const StoredDataset& dataset, const ChunkLayout& layout, const Chunk& chunk,
                const std::byte* from, std::byte* to) {
  const size_t rank = layout.dims.size(), element = dataset.type.size;
  std::vector<uint64_t> extent(rank), at(rank, 0);
  for (size_t i = 0; i < rank; ++i)
    extent[i] =
        std::min(layout.dims[i], static_cast<uint64_t>(dataset.space.dims[i]) - chunk.begin[i]);
  const uint64_t row = (rank == 0 ? 1 : extent[rank - 1]) * element;
  while (true) {
    uint64_t source = 0, target = 0;
    for (size_t i = 0; i < rank; ++i) {
      source = source * layout.dims[i] + at[i];
      target = target * static_cast<uint64_t>(dataset.space.dims[i]) + chunk.begin[i] + at[i];
    }
    std::memcpy(to + target * element, from + source * element, row);
    size_t axis = rank == 0 ? 0 : rank - 1;
    while (axis-- > 0) {
      if (++at[axis] < extent[axis]) break;
      at[axis] = 0;
    }
    if (axis == ~size_t{0}) return;
  }
}

}  // namespace

ChunkLayout read_chunks(const Source& source, const StoredDataset& dataset,
                        const std::string& who) {
  return ChunkReader(source, dataset, who).run();
}

Buffer unpack_chunks(const Source& source, const StoredDataset& dataset, const std::string& who) {
  const ChunkLayout layout = read_chunks(source, dataset, who);
  const std::vector<Filter> filters = read_filters(source, dataset.messages, who);
  Buffer out = Buffer::allocate(dataset.bytes());
  for (const Chunk& chunk : layout.chunks) {
    const Buffer plain = unfilter(source, filters, chunk, layout.bytes, dataset.type.size, who);
    copy_chunk(dataset, layout, chunk, plain.data(), out.data());
  }
  return out;
}

}  // namespace keratin::hdf5
