#include "keratin/backend/cuda/movement/line.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/random_operands.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"

// Ops that walk along one axis, and random numbers.
namespace keratin::cuda {

namespace {

Source cumulate(const Node& node, const char* functor) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  const Line line(node.type().shape, attrs.axis);
  const DType dtype = node.type().dtype;
  const std::string k = attrs.reverse ? text("(", line.size, " - 1 - step)") : "step";
  return element_kernel(
      node, line.outer * line.inner,
      text("    ", compute_type(dtype), " total = start_of<", compute_type(dtype), ">(", functor,
           "{});\n    for (Index step = 0; step < ", line.size, "; ++step) {\n",
           "      const Index at = ", line.at(k), ";\n      const auto next = ", functor,
           "{}(total, load(", x, "[at]));\n      ", y, "[at] = ", storage_type(dtype), "(",
           attrs.exclusive ? "total" : "next", ");\n      total = next;\n    }\n"));
}

// The first position whose element beats all before it; NaN beats everything.
Source arg_extremum(const Node& node, const char* beats) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const Line line(node.in().shape(), node.attr<ops::ArgAttrs>().axis);
  return element_kernel(
      node, text("    long long best = 0;\n    auto known = load(", x, "[", line.at("0"), "]);\n",
                 "    for (Index k = 1; k < ", line.size, "; ++k) {\n      const auto next = load(",
                 x, "[", line.at("k"), "]);\n      if (known == known && (next != next || next ",
                 beats, " known)) { best = k; known = next; }\n    }\n    ", y, "[i] = best;\n"));
}

Source write_cumsum(const Node& node) { return cumulate(node, "scalar::Add"); }
Source write_cumprod(const Node& node) { return cumulate(node, "scalar::Mul"); }
Source write_argmax(const Node& node) { return arg_extremum(node, ">"); }
Source write_argmin(const Node& node) { return arg_extremum(node, "<"); }

// A block of the generator gives four words. A key that begins in the middle of a block is rare:
// then each word is computed alone.
Source write_random_bits(const Node& node) {
  const auto [key, y] = arguments<ops::RandomBitsOperands>(node);
  const int64_t count = node.type().shape.count();
  return element_kernel(
      node, (count + 3) / 4,
      text(
          "    const uint64_t seed = uint64_t(", key, "[0]), first = uint64_t(", key, "[1]);\n",
          "    PhiloxBlock block = {};\n    if (first % 4 == 0) block = philox_block(seed, first / "
          "4 + uint64_t(i));\n    for (int e = 0; e < 4 && 4 * i + e < Index(",
          count, "); ++e)\n      ", y, "[4 * i + e] = int(first % 4 == 0 ? block.word[e] : ",
          "philox_bits(seed, first + uint64_t(4 * i + e)));\n"));
}

}  // namespace

extern const CudaKernel cumsum_kernel =
    source_kernel<write_cumsum>({.name = "cumsum", .ops = {&ops::cumsum_op}},
                                {"%x: f32[3,4,5]", "%y = cumsum(%x) {axis = 1, exclusive = true}"});
extern const CudaKernel cumprod_kernel =
    source_kernel<write_cumprod>({.name = "cumprod", .ops = {&ops::cumprod_op}},
                                 {"%x: f32[3,4,5]", "%y = cumprod(%x) {axis = 2, reverse = true}"});
extern const CudaKernel argmax_kernel =
    source_kernel<write_argmax>({.name = "argmax", .ops = {&ops::argmax_op}},
                                {"%x: bf16[3,4,5]", "%y = argmax(%x) {axis = 1}"});
extern const CudaKernel argmin_kernel =
    source_kernel<write_argmin>({.name = "argmin", .ops = {&ops::argmin_op}},
                                {"%x: bf16[3,4,5]", "%y = argmin(%x) {axis = 1}"});
extern const CudaKernel random_bits_kernel =
    source_kernel<write_random_bits>({.name = "random_bits", .ops = {&ops::random_bits_op}},
                                     {"%key: i64[2]", "%y = random_bits(%key) {shape = [7]}"});

}  // namespace keratin::cuda
