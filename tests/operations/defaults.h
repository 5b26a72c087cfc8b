#pragma once

#include "tests/operations/functions.h"

// Calls that leave options out, as Keras's expression of the golden case does, to be checked for
// symbolic tensors and for values.
namespace keratin::operations {

// The inputs of a case, by name.
template <class T>
using Named = std::map<std::string, T>;

struct DefaultCall {
  std::string_view name;  // of the case
  Symbols (*on_symbols)(const Named<SymbolicTensor>&);
  Tree<Value> (*on_values)(const Named<Value>&);
};

template <class F>
constexpr DefaultCall call(std::string_view name, F) {
  return {name, [](const Named<SymbolicTensor>& in) { return tree(F{}(in)); },
          [](const Named<Value>& in) { return tree(F{}(in)); }};
}

constexpr DefaultCall default_calls[] = {
    call("ops.celu(x)", [](const auto& in) { return ops::celu(in.at("x")); }),
    call("ops.elu(x)", [](const auto& in) { return ops::elu(in.at("x")); }),
    call("ops.gelu(x)", [](const auto& in) { return ops::gelu(in.at("x")); }),
    call("ops.glu(p)", [](const auto& in) { return ops::glu(in.at("p")); }),
    call("ops.hard_shrink(x)", [](const auto& in) { return ops::hard_shrink(in.at("x")); }),
    call("ops.soft_shrink(x)", [](const auto& in) { return ops::soft_shrink(in.at("x")); }),
    call("ops.leaky_relu(x)", [](const auto& in) { return ops::leaky_relu(in.at("x")); }),
    call("ops.log_softmax(x)", [](const auto& in) { return ops::log_softmax(in.at("x")); }),
    call("ops.softmax(x)", [](const auto& in) { return ops::softmax(in.at("x")); }),
    call("ops.squareplus(x)", [](const auto& in) { return ops::squareplus(in.at("x")); }),
    call("ops.zeros_like(x)", [](const auto& in) { return ops::zeros_like(in.at("x")); }),
    call("ops.ones_like(x)", [](const auto& in) { return ops::ones_like(in.at("x")); }),
    call("ops.empty_like(x)", [](const auto& in) { return ops::empty_like(in.at("x")); }),
    call("ops.nan_to_num(e)", [](const auto& in) { return ops::nan_to_num(in.at("e")); }),
    call("ops.round(x)", [](const auto& in) { return ops::round(in.at("x")); }),
    call("ops.sort(x)", [](const auto& in) { return ops::sort(in.at("x")); }),
    call("ops.argsort(x)", [](const auto& in) { return ops::argsort(in.at("x")); }),
    call("ops.average(x)", [](const auto& in) { return ops::average(in.at("x")); }),
    call("ops.cumsum(x)", [](const auto& in) { return ops::cumsum(in.at("x")); }),
    call("ops.cumprod(g)", [](const auto& in) { return ops::cumprod(in.at("g")); }),
    call("ops.diff(x)", [](const auto& in) { return ops::diff(in.at("x")); }),
    call("ops.flip(x)", [](const auto& in) { return ops::flip(in.at("x")); }),
    call("ops.transpose(x)", [](const auto& in) { return ops::transpose(in.at("x")); }),
    call("ops.normalize(x)", [](const auto& in) { return ops::normalize(in.at("x")); }),
    call("ops.norm(w)", [](const auto& in) { return ops::norm(in.at("w")); }),
    call("ops.tril(m)", [](const auto& in) { return ops::tril(in.at("m")); }),
    call("ops.triu(m)", [](const auto& in) { return ops::triu(in.at("m")); }),
    call("ops.diagonal(t)", [](const auto& in) { return ops::diagonal(in.at("t")); }),
    call("ops.trace(t)", [](const auto& in) { return ops::trace(in.at("t")); }),
    call("ops.rms_normalization(x)",
         [](const auto& in) { return ops::rms_normalization(in.at("x")); }),
    call("ops.layer_normalization(h)",
         [](const auto& in) { return ops::layer_normalization(in.at("h")); }),
    call("ops.sum(x)", [](const auto& in) { return ops::sum(in.at("x")); }),
    call("ops.mean(x)", [](const auto& in) { return ops::mean(in.at("x")); }),
    call("ops.max(x)", [](const auto& in) { return ops::max(in.at("x")); }),
    call("ops.min(x)", [](const auto& in) { return ops::min(in.at("x")); }),
    call("ops.prod(x)", [](const auto& in) { return ops::prod(in.at("x")); }),
    call("ops.var(x)", [](const auto& in) { return ops::var(in.at("x")); }),
    call("ops.std(x)", [](const auto& in) { return ops::std(in.at("x")); }),
    call("ops.any(b)", [](const auto& in) { return ops::any(in.at("b")); }),
    call("ops.all(b)", [](const auto& in) { return ops::all(in.at("b")); }),
    call("ops.amax(x)", [](const auto& in) { return ops::amax(in.at("x")); }),
    call("ops.amin(x)", [](const auto& in) { return ops::amin(in.at("x")); }),
    call("ops.ptp(x)", [](const auto& in) { return ops::ptp(in.at("x")); }),
    call("ops.logsumexp(x)", [](const auto& in) { return ops::logsumexp(in.at("x")); }),
    call("ops.count_nonzero(x)", [](const auto& in) { return ops::count_nonzero(in.at("x")); }),
    call("ops.argmax(x)", [](const auto& in) { return ops::argmax(in.at("x")); }),
    call("ops.argmin(x)", [](const auto& in) { return ops::argmin(in.at("x")); }),
    call("ops.nanmax(o)", [](const auto& in) { return ops::nanmax(in.at("o")); }),
    call("ops.nanmin(o)", [](const auto& in) { return ops::nanmin(in.at("o")); }),
    call("ops.nanmean(o)", [](const auto& in) { return ops::nanmean(in.at("o")); }),
    call("ops.nanprod(o)", [](const auto& in) { return ops::nanprod(in.at("o")); }),
    call("ops.nanstd(o)", [](const auto& in) { return ops::nanstd(in.at("o")); }),
    call("ops.nansum(o)", [](const auto& in) { return ops::nansum(in.at("o")); }),
    call("ops.nanvar(o)", [](const auto& in) { return ops::nanvar(in.at("o")); }),
    call("ops.nancumsum(k)", [](const auto& in) { return ops::nancumsum(in.at("k")); }),
    call("ops.nancumprod(k)", [](const auto& in) { return ops::nancumprod(in.at("k")); }),
    call("ops.append(x, y)", [](const auto& in) { return ops::append(in.at("x"), in.at("y")); }),
    call("ops.array_split(t, 2, axis=0)",
         [](const auto& in) { return ops::array_split(in.at("t"), 2); }),
    call("ops.isclose(x, y)", [](const auto& in) { return ops::isclose(in.at("x"), in.at("y")); }),
    call("ops.meshgrid(u, v)",
         [](const auto& in) {
           return ops::meshgrid({in.at("u"), in.at("v")});
         }),
    call("ops.moments(x, axes=[1])", [](const auto& in) { return ops::moments(in.at("x"), {1}); }),
    call("ops.multi_hot(i, 5)", [](const auto& in) { return ops::multi_hot(in.at("i"), 5); }),
    call("ops.one_hot(i, 3)", [](const auto& in) { return ops::one_hot(in.at("i"), 3); }),
    call("ops.repeat(x, 2)", [](const auto& in) { return ops::repeat(in.at("x"), 2); }),
    call("ops.moveaxis(x, 1, -1)", [](const auto& in) { return ops::moveaxis(in.at("x"), 1, -1); }),
    call("ops.roll(t, 2)", [](const auto& in) { return ops::roll(in.at("t"), 2); }),
    call("ops.select([b], [n])",
         [](const auto& in) { return ops::select({in.at("b")}, {in.at("n")}); }),
    call("ops.split(t, 2, axis=0)", [](const auto& in) { return ops::split(in.at("t"), 2); }),
    call("ops.take(x, i)", [](const auto& in) { return ops::take(in.at("x"), in.at("i")); }),
    call("ops.tensordot(c, c, axes=2)",
         [](const auto& in) { return ops::tensordot(in.at("c"), in.at("c")); }),
    call("ops.top_k(x, 2)", [](const auto& in) { return ops::top_k(in.at("x"), 2); }),
    call("ops.unstack(t, 2, axis=0)", [](const auto& in) { return ops::unstack(in.at("t"), 2); }),
    call("ops.pad(x, [[0, 0], [1, 2], [0, 1]])",
         [](const auto& in) {
           return ops::pad(in.at("x"), std::vector<Dims>{{0, 0}, {1, 2}, {0, 1}});
         }),
};

}  // namespace keratin::operations
