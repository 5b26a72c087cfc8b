#include "keratin/backend/cuda/source.h"
#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

namespace keratin::cuda {

std::ostream& operator<<(std::ostream& out, const Argument& argument) {
  return argument ? out << 'p' << argument.index : out << "nullptr";
}

std::string_view storage_type(DType dtype) {
  constexpr std::array<std::string_view, 9> names = {
      "double", "float", "Half", "BFloat16", "int8_t", "uint8_t", "int32_t", "int64_t", "bool"};
  return names[static_cast<size_t>(dtype)];
}

std::string_view compute_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? "float" : storage_type(dtype);
}

namespace {

// Written as bits, so that no digits are lost.
std::string float_literal(DType dtype, double value) {
  std::ostringstream out;
  if (dtype == DType::f64) {
    out << "__longlong_as_double(0x" << std::hex << std::bit_cast<uint64_t>(value) << "ULL)";
  } else {
    out << "__uint_as_float(0x" << std::hex << std::bit_cast<uint32_t>(static_cast<float>(value))
        << "u)";
  }
  return out.str();
}

std::string integer_literal(DType dtype, int64_t value) {
  // The smallest number has no literal of its own.
  return text(storage_type(dtype), "(", "int64_t(", static_cast<uint64_t>(value), "ULL))");
}

}  // namespace

std::string literal(DType dtype, double value) {
  if (is_float(dtype)) return float_literal(dtype, value);
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  return integer_literal(dtype, convert<int64_t>(value));
}

std::string literal_of(const Tensor& scalar) {
  if (scalar.dtype() == DType::i64) return integer_literal(DType::i64, scalar.data<int64_t>()[0]);
  return literal(scalar.dtype(), scalar.at(0));
}

bool Source::InPlace::allows(const Node& node, size_t input, size_t output) const {
  const Type &from = node.in(input).type(), &to = node.type(output);
  const bool safe = adds_to_first_input ? input == 0 : elementwise == from.shape;
  return safe && from.shape == to.shape && size_of(from.dtype) == size_of(to.dtype);
}

std::string_view index_type(const Node& node, int64_t count) {
  constexpr int64_t limit = int64_t{1} << 30;  // leaves room for one stride of the grid
  int64_t largest = count;
  for (const Value& input : node.inputs()) largest = std::max(largest, input.shape().count());
  for (const Type& type : node.types()) largest = std::max(largest, type.shape.count());
  return largest < limit ? "int" : "long long";
}

std::vector<AffineTerm> affine_terms(const Dims& dims, const Dims& strides) {
  std::vector<AffineTerm> terms;
  int64_t inner = 1;
  size_t axis = dims.size();
  while (axis > 0) {
    --axis;
    if (dims[axis] == 1) continue;
    // Merges axes with compatible strides; empty shapes never run.
    int64_t size = std::max<int64_t>(dims[axis], 1);
    const int64_t stride = strides[axis];
    while (axis > 0 && (dims[axis - 1] == 1 || strides[axis - 1] == stride * size))
      size *= std::max<int64_t>(dims[--axis], 1);
    if (size != 1 && stride != 0) {
      const bool outermost = std::all_of(dims.begin(), dims.begin() + static_cast<int64_t>(axis),
                                         [](int64_t d) { return d == 1; });
      terms.push_back({.inner = inner, .size = outermost ? 0 : size, .stride = stride});
    }
    inner *= size;
  }
  return terms;
}

std::string affine(const Dims& dims, const Dims& strides, int64_t base, const std::string& index) {
  std::string sum;
  const auto add = [&sum](const std::string& term) { sum += (sum.empty() ? "" : " + ") + term; };
  for (const AffineTerm& t : affine_terms(dims, strides)) {
    std::string term = t.inner == 1 ? index : text(index, " / ", t.inner);
    if (t.size != 0) term = text("(", term, ") % ", t.size);
    add(t.stride == 1 ? term : text("(", term, ") * Index(", t.stride, ")"));
  }
  if (base != 0) add(text("Index(", base, ")"));
  return sum.empty() ? "Index(0)" : text("(", sum, ")");
}

Dims broadcast_strides(const Shape& operand, const Shape& shape) {
  Dims strides(static_cast<size_t>(shape.rank()), 0);
  const Dims own = operand.strides();
  const size_t extra = strides.size() - own.size();
  for (size_t axis = 0; axis < own.size(); ++axis)
    if (operand[static_cast<int64_t>(axis)] != 1) strides[axis + extra] = own[axis];
  return strides;
}

std::string function(const Node& node, const Source& source, const std::string& name,
                     const std::string& body, const FunctionTraits& traits) {
  std::string arguments;
  size_t position = 0;
  for (const Value& input : node.inputs())
    arguments += text("const ", storage_type(input.dtype()), "* p", position++, ", ");
  for (const Type& type : node.types())
    arguments += text(storage_type(type.dtype), "* p", position++, ", ");
  arguments += text("char* p", position);
  if (source.checks_indices) arguments += ", long long* fault, long long tag";
  std::string bounds;
  if (traits.max_threads > 0)
    bounds = text("__launch_bounds__(", traits.max_threads, ", ", traits.blocks, ") ");
  if (traits.cluster > 1) bounds += text("__cluster_dims__(", traits.cluster, ") ");
  return text("extern \"C\" __global__ void ", bounds, name, "(", arguments, ") {\n",
              "  wait_for_others();\n", body, "}\n");
}

unsigned blocks_for(int64_t count) {
  constexpr int64_t max_blocks = int64_t{1} << 20;  // the grid strides over the rest
  return static_cast<unsigned>(
      std::clamp<int64_t>((count + block_size - 1) / block_size, 1, max_blocks));
}

std::string include_of(std::string_view file) {
  return text("#include \"keratin/backend/cuda/kernels/", file, "\"\n");
}

Source element_kernel(const Node& node, int64_t count, const ElementCall& call) {
  Source source;
  source.name = node.name();
  source.checks_indices = call.checks_indices;
  source.code = text(call.definitions, "using Index = ", index_type(node, count), ";\n");
  source.code += function(node, source, "kernel",
                          text("  ", call.function, "(Index(", count, "), ", call.operands,
                               call.checks_indices ? ", fault, tag" : "", ");\n"));
  if (count > 0) source.launches = {{"kernel", blocks_for(count)}};
  return source;
}

Source element_kernel(const Node& node, int64_t count, const std::string& body,
                      bool checks_indices) {
  Source source;
  source.name = node.name();
  source.checks_indices = checks_indices;
  source.code = text("using Index = ", index_type(node, count), ";\n") +
                function(node, source, "kernel",
                         text("  for (Index i = blockIdx.x * Index(", block_size,
                              ") + threadIdx.x; i < Index(", count, "); i += gridDim.x * Index(",
                              block_size, ")) {\n", body, "  }\n"));
  if (count > 0) source.launches = {{"kernel", blocks_for(count)}};
  return source;
}

Source element_kernel(const Node& node, const std::string& body, bool checks_indices) {
  return element_kernel(node, node.type().shape.count(), body, checks_indices);
}

}  // namespace keratin::cuda
