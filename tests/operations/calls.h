#pragma once

#include "tests/operations/given.h"

// Calls of operations whose functions on symbolic tensors and on values differ in what they take,
// and what the functions give, as a tree.
namespace keratin::operations {

inline Symbols tree(const SymbolicTensor& x) { return x; }
inline Symbols tree(const Symbols& x) { return x; }
inline Tree<Value> tree(Value x) { return x; }
inline Tree<Value> tree(const Values& x) { return x; }
inline Tree<Value> tree(const Tree<Value>& x) { return x; }
inline Tree<Value> tree(const ops::TopK& x) { return Values{x.values, x.indices}; }

using OnSymbols = Given<SymbolicTensor>;
using OnValues = Given<Value>;

inline SymbolicTensor max(const OnSymbols& c) {
  return ops::max(c.x(), c.axes(), c.flag("keepdims"), c.maybe_number("initial"));
}
inline SymbolicTensor min(const OnSymbols& c) {
  return ops::min(c.x(), c.axes(), c.flag("keepdims"), c.maybe_number("initial"));
}
inline Value max(const OnValues& c) {
  if (!c.has("initial")) return ops::max(c.x(), c.axes(), c.flag("keepdims"));
  return ops::max(c.x(), c.axes(), c.flag("keepdims"), c.scalar("initial"));
}
inline Value min(const OnValues& c) {
  if (!c.has("initial")) return ops::min(c.x(), c.axes(), c.flag("keepdims"));
  return ops::min(c.x(), c.axes(), c.flag("keepdims"), c.scalar("initial"));
}
inline SymbolicTensor layer_norm(const OnSymbols& c) {
  return ops::layer_normalization(c.x(), c.x(1), c.x(2), c.sizes("axis"), c.maybe_real("epsilon"),
                                  c.flag("rms_scaling"));
}
inline Value layer_norm(const OnValues& c) {
  return ops::layer_normalization(c.x(), c.x(1), c.x(2), c.axes(),
                                  c.maybe_real("epsilon").value_or(1e-7), c.flag("rms_scaling"));
}
inline SymbolicTensor rms_norm(const OnSymbols& c) {
  return ops::rms_normalization(c.x(), c.x(1, "scale"), c.sizes("axis"), c.maybe_real("epsilon"));
}
inline Value rms_norm(const OnValues& c) {
  return ops::rms_normalization(c.x(), c.x(1, "scale"), c.axes(),
                                c.maybe_real("epsilon").value_or(1e-7));
}
inline SymbolicTensor normalize(const OnSymbols& c) {
  return ops::normalize(c.x(), c.axes(), c.whole("order"), c.maybe_real("epsilon"));
}
inline Value normalize(const OnValues& c) {
  return ops::normalize(c.x(), c.axes(), c.whole("order"));
}
inline SymbolicTensor norm(const OnSymbols& c) {
  return ops::norm(c.x(), c.option("ord"), c.axes(), c.flag("keepdims"));
}
inline Value norm(const OnValues& c) {  // 'fro' is the default of matrices
  const bool named = c.option("ord") == Json("fro");
  return ops::norm(c.x(), named ? std::nullopt : c.maybe_real("ord"), c.axes(), c.flag("keepdims"));
}
inline SymbolicTensor pad(const OnSymbols& c) {
  return ops::pad(c.x(), c.pairs("pad_width"), c.text("mode"), c.x(1, "constant_values"));
}
inline Value pad(const OnValues& c) {
  return ops::pad(c.x(), c.pairs("pad_width"), c.text("mode"), c.named_number("constant_values"));
}
inline SymbolicTensor roll(const OnSymbols& c) {
  return ops::roll(c.x(), c.sizes("shift"), c.axes());
}
inline Value roll(const OnValues& c) {
  return ops::roll(c.x(), c.dims("shift"), c.maybe_dims("axis"));
}
inline SymbolicTensor squeeze(const OnSymbols& c) { return ops::squeeze(c.x(), c.axes()); }
inline Value squeeze(const OnValues& c) {
  return c.has("axis") ? ops::squeeze(c.x(), c.axes()) : ops::squeeze(c.x());
}
inline SymbolicTensor transpose(const OnSymbols& c) {
  return ops::transpose(c.x(), c.maybe_dims("axes"));
}
inline Value transpose(const OnValues& c) {
  return c.has("axes") ? ops::transpose(c.x(), c.dims("axes")) : ops::transpose(c.x());
}
template <class T>
T tensordot(const Given<T>& c) {
  const Json& axes = c.option("axes");
  if (axes.is_int()) return ops::tensordot(c.x(), c.x(1), axes.as_int());
  const auto pairs = c.pairs("axes");
  return ops::tensordot(c.x(), c.x(1), pairs[0], pairs[1]);
}

}  // namespace keratin::operations
