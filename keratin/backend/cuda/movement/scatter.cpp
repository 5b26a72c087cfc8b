#include <algorithm>
#include <bit>

#include "keratin/backend/cuda/movement/index_layout.h"
#include "keratin/backend/cuda/movement/sort_source.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/records.h"

// Additions at positions that indices select, by kernels/scatter.cu.
namespace keratin::cuda {

namespace {

constexpr int64_t chunk = 64;  // as in kernels/scatter.cu

// Best for few updates.
template <bool along>
Source write_searching_scatter(const Node& node) {
  const auto p = arguments<ops::ScatterOperands>(node);
  const IndexLayout l(node, along);
  Source source = element_kernel(
      node, node.type().shape.count(),
      {.definitions = text(include_of("scatter.cu"), "constexpr scattering::Layout layout = {",
                           l.size, ", ", l.inner, ", ", l.count, "};\n"),
       .function = text("scattering::search<layout, ", along ? "true" : "false", ">"),
       .operands = text(p.x, ", ", p.indices, ", ", p.updates, ", ", p.y),
       .checks_indices = true});
  source.in_place.adds_to_first_input = true;
  return source;
}

// What is sorted: with `along` every update has a target of its own among all elements.
IndexLayout layout_of_sort(const IndexLayout& l, bool along) {
  if (!along) return l;
  return {1, l.outer * l.size * l.inner, 1, l.outer * l.count * l.inner};
}

// Updates are sorted by their targets; then those of one target are neighbours.
class SortedScatter {
 public:
  SortedScatter(const Node& node, const IndexLayout& l, bool along)
      : node_(node), p_(arguments<ops::ScatterOperands>(node)), l_(layout_of_sort(l, along)) {
    const std::string target = text("checked_index(", p_.indices, "[i], ", l.size, ", fault, tag)");
    sort_.key = target;
    if (along)
      sort_.key = text("(i / ", divisor(l.count * l.inner), " * ", divisor(l.size), " + ", target,
                       ") * ", divisor(l.inner), " + i % ", divisor(l.inner));
    sort_.items = l_.count;
    sort_.bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(l_.size - 1)));
  }

  Source write() {
    // x is copied first, unless the result is written over it.
    source_ = element_kernel(
        node_, text("    if (", p_.y, " != ", p_.x, ") ", p_.y, "[i] = ", p_.x, "[i];\n"), true);
    sort_.write(node_, source_);
    source_.code += include_of("scatter.cu");
    const int64_t columns = l_.outer * l_.inner, chunks = (l_.count + chunk - 1) / chunk;
    const size_t partial = source_.scratch_bytes;
    source_.scratch_bytes += static_cast<size_t>(chunks * 2 * columns) * 8;
    const auto across =
        std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))), 128);
    const int64_t beside = 128 / across, groups = (columns + across - 1) / across;
    const std::string_view type = storage_type(node_.type().dtype);
    const std::string set_up =
        text("  const unsigned c = blockIdx.x * ", beside, " + threadIdx.y;\n  if (c >= ", chunks,
             ") return;\n  for (Index at = blockIdx.y * ", across, " + threadIdx.x; at < Index(",
             columns, "); at += gridDim.y * Index(", across, ")) {\n    const Index in = at % ",
             divisor(l_.inner), ", o = at / ", divisor(l_.inner),
             ";\n    const scattering::Column<", type, "> column = {", sort_.keys, ", ",
             sort_.order, ", ", l_.count, ", ", p_.updates, " + o * ", divisor(l_.count * l_.inner),
             " + in, ", p_.y, " + o * ", divisor(l_.size * l_.inner), " + in, ", l_.inner,
             ", reinterpret_cast<", compute_type(node_.type().dtype), "*>(",
             scratch_argument(node_), " + ", partial, "LL) + at, ", columns, "};\n");
    for (const char* name : {"add", "join"}) {
      source_.code += function(node_, source_, name,
                               text(set_up, "    scattering::", name, "_chunk(column, c);\n  }\n"));
      source_.launches.push_back({name, static_cast<unsigned>((chunks + beside - 1) / beside),
                                  static_cast<unsigned>(std::min<int64_t>(groups, 65535)),
                                  static_cast<unsigned>(across), static_cast<unsigned>(beside)});
    }
    return std::move(source_);
  }

 private:
  const Node& node_;
  const ops::ScatterOperands<Argument> p_;
  const IndexLayout l_;
  RadixSort sort_;
  Source source_;
};

template <bool along>
Source write_sorted_scatter(const Node& node) {
  Source source = SortedScatter(node, IndexLayout(node, along), along).write();
  source.in_place.adds_to_first_input = true;
  return source;
}

template <bool along>
std::optional<std::string> refuses_sorted_scatter(const Node& node) {
  constexpr int64_t few = 64;
  const IndexLayout l(node, along), sorted = layout_of_sort(l, along);
  if (l.count <= few) return text("up to ", few, " updates are found faster by every element");
  if (node.type().shape.count() == 0) return "the result is empty";
  if (std::max(sorted.size, sorted.count) >= RadixSort::max_items)
    return text(sorted.count, " updates of ", sorted.size, " elements are too many");
  return std::nullopt;
}

}  // namespace

extern const CudaKernel sorted_scatter_kernel = source_kernel<write_sorted_scatter<false>>(
    {.name = "scatter_add of sorted updates",
     .ops = {&ops::scatter_add_op},
     .refuses = refuses_sorted_scatter<false>},
    {"%x: f32[3,500,70], %indices: i32[100], %updates: f32[3,100,70]",
     "%y = scatter_add(%x, %indices, %updates) {axis = 1}"});
extern const CudaKernel sorted_scatter_along_axis_kernel =
    source_kernel<write_sorted_scatter<true>>(
        {.name = "scatter_add_along_axis of sorted updates",
         .ops = {&ops::scatter_add_along_axis_op},
         .refuses = refuses_sorted_scatter<true>},
        {"%x: f32[3,500], %indices: i64[3,80], %updates: f32[3,80]",
         "%y = scatter_add_along_axis(%x, %indices, %updates) {axis = 1}"});
extern const CudaKernel searching_scatter_kernel = source_kernel<write_searching_scatter<false>>(
    {.name = "scatter_add by searching", .ops = {&ops::scatter_add_op}},
    {"%x: f32[3,4,5], %indices: i64[2], %updates: f32[3,2,5]",
     "%y = scatter_add(%x, %indices, %updates) {axis = 1}"});
extern const CudaKernel searching_scatter_along_axis_kernel =
    source_kernel<write_searching_scatter<true>>(
        {.name = "scatter_add_along_axis by searching", .ops = {&ops::scatter_add_along_axis_op}},
        {"%x: f32[3,4], %indices: i32[3,2], %updates: f32[3,2]",
         "%y = scatter_add_along_axis(%x, %indices, %updates) {axis = 1}"});

}  // namespace keratin::cuda
