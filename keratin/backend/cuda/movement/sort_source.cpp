#include "keratin/backend/cuda/movement/sort_source.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

constexpr int64_t bins = 256, sort_tile = 2048;  // as in kernels/sort.cu

// Reserves scratch memory; returns a pointer to it, as an expression of this type.
std::string reserve(const Node& node, Source& source, std::string_view type, int64_t bytes) {
  const size_t offset = source.scratch_bytes;
  source.scratch_bytes += static_cast<size_t>((bytes + 255) / 256 * 256);
  return text("reinterpret_cast<", type, "*>(", scratch_argument(node), " + ", offset, "LL)");
}

}  // namespace

void RadixSort::write(const Node& node, Source& source) {
  const std::string_view type = wide ? "uint64_t" : "unsigned";
  const int64_t tiles = (items + sort_tile - 1) / sort_tile;
  const int64_t key_bytes = items * lines * (wide ? 8 : 4), item_bytes = items * lines * 4;
  const std::string counts = reserve(node, source, "unsigned", tiles * bins * lines * 4);
  std::string other_keys = reserve(node, source, type, key_bytes),
              other_order = reserve(node, source, "unsigned", item_bytes);
  keys = reserve(node, source, type, key_bytes);
  order = reserve(node, source, "unsigned", item_bytes);

  source.code += include_of("sort.cu");
  const std::string mine = text("blockIdx.y * Index(", items, ")");
  std::string key_at = text("[&](unsigned i) { return ", type, "(", key, "); }"), item_at = "i";
  for (int shift = 0; shift < std::max(bits, 1); shift += 8) {
    std::swap(keys, other_keys);
    std::swap(order, other_order);
    const std::string line =
        text("  const Index line = blockIdx.y;\n  const auto key = ", key_at,
             ";\n  unsigned* const counts = ", counts, " + line * Index(", tiles * bins, ");\n");
    const std::string count = text("count", shift), scatter = text("scatter", shift);
    source.code +=
        function(node, source, count,
                 text(line, "  sorting::count_digits(key, ", items, ", ", shift, ", counts);\n"));
    source.code += function(node, source, scatter,
                            text(line, "  sorting::scatter_digits(key, ", items, ", ", shift,
                                 ", counts, [&](unsigned position, unsigned i) {\n    (", keys,
                                 " + ", mine, ")[position] = key(i);\n    (", order, " + ", mine,
                                 ")[position] = ", item_at, ";\n  });\n"));
    for (const std::string& name : {count, scatter})
      source.launches.push_back({name, static_cast<unsigned>(tiles), static_cast<unsigned>(lines)});
    key_at = text("[&](unsigned i) { return (", keys, " + ", mine, ")[i]; }");
    item_at = text("(", order, " + ", mine, ")[i]");
  }
}

}  // namespace keratin::cuda
