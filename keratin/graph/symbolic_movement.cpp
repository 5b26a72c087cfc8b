#include "keratin/graph/operation.h"
#include "keratin/graph/symbolic_ops.h"

namespace keratin::ops {

using O = Json::Object;

SymbolicTensor reshape(const Symbols& x, const Dims& newshape) {
  return operation_result("Reshape", {x}, O{{"newshape", config::write(newshape)}});
}
SymbolicTensor ravel(const Symbols& x) { return operation_result("Ravel", {x}); }
SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes) {
  return operation_result("Transpose", {x}, O{{"axes", config::write(axes)}});
}
SymbolicTensor swapaxes(const Symbols& x, int64_t axis1, int64_t axis2) {
  return operation_result("Swapaxes", {x}, O{{"axis1", axis1}, {"axis2", axis2}});
}
SymbolicTensor moveaxis(const Symbols& x, const Sizes& source, const Sizes& destination) {
  return operation_result("Moveaxis", {x},
                          O{{"source", source.to_json()}, {"destination", destination.to_json()}});
}
SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis) {
  return operation_result("ExpandDims", {x}, O{{"axis", axis.to_json()}});
}
SymbolicTensor squeeze(const Symbols& x, const Axes& axis) {
  return operation_result("Squeeze", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor broadcast_to(const Symbols& x, const Dims& shape) {
  return operation_result("BroadcastTo", {x}, O{{"shape", config::write(shape)}});
}
SymbolicTensor flip(const Symbols& x, const Axes& axis) {
  return operation_result("Flip", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor fliplr(const Symbols& x) { return operation_result("Fliplr", {x}); }
SymbolicTensor flipud(const Symbols& x) { return operation_result("Flipud", {x}); }
SymbolicTensor rot90(const Symbols& x, int64_t k, const Dims& axes) {
  return operation_result("Rot90", {x}, O{{"k", k}, {"axes", config::write(axes)}});
}
SymbolicTensor roll(const Symbols& x, const Sizes& shift, const Axes& axis) {
  return operation_result("Roll", {x},
                          O{{"shift", shift.to_json()}, {"axis", config::write(axis)}});
}
SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis) {
  return operation_result("Concatenate", {Symbols(xs)}, O{{"axis", axis}});
}
SymbolicTensor append(const Symbols& x1, const Symbols& x2, std::optional<int64_t> axis) {
  return operation_result("Append", {x1, x2}, O{{"axis", config::write(axis)}});
}
SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis) {
  return operation_result("Stack", {Symbols(xs)}, O{{"axis", axis}});
}
SymbolicTensor hstack(const std::vector<SymbolicTensor>& xs) {
  return operation_result("Hstack", {Symbols(xs)});
}
SymbolicTensor vstack(const std::vector<SymbolicTensor>& xs) {
  return operation_result("Vstack", {Symbols(xs)});
}
SymbolicTensor dstack(const std::vector<SymbolicTensor>& xs) {
  return operation_result("Dstack", {Symbols(xs)});
}
Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis) {
  return call_operation("Split", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}, {"axis", axis}});
}
Symbols array_split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis) {
  return call_operation("ArraySplit", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}, {"axis", axis}});
}
Symbols hsplit(const Symbols& x, const Sizes& indices_or_sections) {
  return call_operation("Hsplit", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}});
}
Symbols vsplit(const Symbols& x, const Sizes& indices_or_sections) {
  return call_operation("Vsplit", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}});
}
Symbols dsplit(const Symbols& x, const Sizes& indices_or_sections) {
  return call_operation("Dsplit", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}});
}
Symbols unstack(const Symbols& x, std::optional<int64_t> num, int64_t axis) {
  return call_operation("Unstack", {{x}, {}}, O{{"num", config::write(num)}, {"axis", axis}});
}
Symbols meshgrid(const std::vector<SymbolicTensor>& xs, const char* indexing) {
  return call_operation("Meshgrid", {{xs.begin(), xs.end()}, {}}, O{{"indexing", indexing}});
}
SymbolicTensor repeat(const Symbols& x, const Sizes& repeats, std::optional<int64_t> axis) {
  return operation_result("Repeat", {x},
                          O{{"repeats", repeats.to_json()}, {"axis", config::write(axis)}});
}
SymbolicTensor tile(const Symbols& x, const Dims& repeats) {
  return operation_result("Tile", {x}, O{{"repeats", config::write(repeats)}});
}
SymbolicTensor pad(const Symbols& x, const std::vector<Dims>& pad_width, const char* mode,
                   const Symbols& constant_values) {
  return operation_result("Pad", with_named(x, "constant_values", constant_values),
                          O{{"pad_width", config::write(pad_width)}, {"mode", mode}});
}
SymbolicTensor take(const Symbols& x, const Symbols& indices, std::optional<int64_t> axis) {
  return operation_result("Take", {x, indices}, O{{"axis", config::write(axis)}});
}
SymbolicTensor take_along_axis(const Symbols& x, const Symbols& indices,
                               std::optional<int64_t> axis) {
  return operation_result("TakeAlongAxis", {x, indices}, O{{"axis", config::write(axis)}});
}
SymbolicTensor slice(const Symbols& x, const Symbols& start_indices, const Dims& shape) {
  return operation_result("Slice", {x, start_indices}, O{{"shape", config::write(shape)}});
}
SymbolicTensor slice_update(const Symbols& x, const Symbols& start_indices,
                            const Symbols& updates) {
  return operation_result("SliceUpdate", {x, start_indices, updates});
}
SymbolicTensor tril(const Symbols& x, int64_t k) {
  return operation_result("Tril", {x}, O{{"k", k}});
}
SymbolicTensor triu(const Symbols& x, int64_t k) {
  return operation_result("Triu", {x}, O{{"k", k}});
}
SymbolicTensor diagonal(const Symbols& x, int64_t offset, int64_t axis1, int64_t axis2) {
  return operation_result("Diagonal", {x},
                          O{{"offset", offset}, {"axis1", axis1}, {"axis2", axis2}});
}
SymbolicTensor trace(const Symbols& x, int64_t offset, int64_t axis1, int64_t axis2) {
  return operation_result("Trace", {x}, O{{"offset", offset}, {"axis1", axis1}, {"axis2", axis2}});
}

}  // namespace keratin::ops
