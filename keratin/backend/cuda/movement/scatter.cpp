#include <algorithm>
#include <bit>

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/movement/index_layout.h"
#include "keratin/backend/cuda/movement/sort_source.h"
#include "keratin/base/text.h"

// Additions to places that indices name: no atomics, so a sum is always the same.
namespace keratin::cuda {

namespace {

constexpr int64_t chunk = 64;  // as in kernels/scatter.cu

// Every element looks for what is added to it, in the order of the indices: best for few of them.
Source look_for_updates(const Node& node, const Places& p, bool along) {
  const DType dtype = node.type().dtype;
  const std::string at = text("(o * ", number(p.count), " + j) * ", number(p.inner), " + in");
  return element_kernel(
      node,
      text("    const Index in = i % ", number(p.inner), ", k = i / ", number(p.inner), " % ",
           number(p.size), ", o = i / ", number(p.inner * p.size), ";\n    ", compute_type(dtype),
           " total = load(p0[i]);\n    for (Index j = 0; j < ", p.count, "; ++j) {\n",
           "      if (Index(checked_index(p1[", along ? at : "j", "], ", p.size,
           ", fault, tag)) == k) total = scalar::Add{}(total, load(p2[", at, "]));\n    }\n",
           "    p3[i] = ", storage_type(dtype), "(total);\n"),
      true);
}

// Updates are sorted by their targets; then each target's are next to each other.
class SortedUpdates {
 public:
  SortedUpdates(const Node& node, const Places& p, bool along) : node_(node), p_(p) {
    const std::string target = text("checked_index(p1[i], ", p.size, ", fault, tag)");
    sort_.key = target;
    if (along) {  // every update has a target of its own among all elements
      sort_.key = text("(i / ", number(p.count * p.inner), " * ", number(p.size), " + ", target,
                       ") * ", number(p.inner), " + i % ", number(p.inner));
      p_ = {1, p.outer * p.size * p.inner, 1, p.outer * p.count * p.inner};
    }
    sort_.items = p_.count;
    sort_.bits = std::bit_width(static_cast<uint64_t>(p_.size - 1));
  }

  bool fits() const { return std::max(p_.size, p_.count) < SortText::most_items; }

  Source write() {
    // The table comes first, unless it is there already.
    source_ = element_kernel(node_, "    if (p3 != p0) p3[i] = p0[i];\n", true);
    sort_.write(node_, source_);
    source_.text += "#include \"keratin/backend/cuda/kernels/scatter.cu\"\n";
    const int64_t columns = p_.outer * p_.inner, chunks = (p_.count + chunk - 1) / chunk;
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
             number(p_.inner), ", o = at / ", number(p_.inner), ";\n    const scattering::Column<",
             type, "> column = {", sort_.keys, ", ", sort_.order, ", ", p_.count, ", p2 + o * ",
             number(p_.count * p_.inner), " + in, p3 + o * ", number(p_.size * p_.inner), " + in, ",
             p_.inner, ", reinterpret_cast<", compute_type(node_.type().dtype), "*>(p4 + ", partial,
             "LL) + at, ", columns, "};\n");
    for (const char* name : {"add", "join"}) {
      source_.text += function(node_, source_, name,
                               text(set_up, "    scattering::", name, "_chunk(column, c);\n  }\n"));
      source_.passes.push_back({name, static_cast<unsigned>((chunks + beside - 1) / beside),
                                static_cast<unsigned>(std::min<int64_t>(groups, 65535)),
                                static_cast<unsigned>(across), static_cast<unsigned>(beside)});
    }
    return std::move(source_);
  }

 private:
  const Node& node_;
  Places p_;
  SortText sort_;
  Source source_;
};

Source scatter_add(const Node& node, bool along) {
  constexpr int64_t few = 64;
  const Places p(node, along);
  SortedUpdates sorted(node, p, along);
  const bool sort = p.count > few && node.type().shape.count() > 0 && sorted.fits();
  Source source = sort ? sorted.write() : look_for_updates(node, p, along);
  source.name = node.name();
  source.in_place.grows_input = true;
  return source;
}

}  // namespace

Source make_scatter_add(const Node& node) { return scatter_add(node, false); }
Source make_scatter_add_along_axis(const Node& node) { return scatter_add(node, true); }

}  // namespace keratin::cuda
