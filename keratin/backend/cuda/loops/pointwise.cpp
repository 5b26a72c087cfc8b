#include "keratin/backend/cuda/loops/pointwise.h"

#include <cctype>

#include "keratin/base/text.h"
#include "keratin/ops/scalar_table.h"
#include "keratin/tensor/elements.h"

namespace keratin::cuda {

namespace {

// bit_and -> scalar::BitAnd: functors have the names of their ops, in CamelCase.
std::string functor_of(ScalarOp op) {
  std::string functor = "scalar::";
  bool starts_word = true;
  for (const char c : name(op)) {
    if (c != '_')
      functor += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts_word = c == '_';
  }
  return functor;
}

}  // namespace

std::string expression_of(const Node& node, const std::function<std::string(size_t)>& input) {
  const ScalarOp op = *node.op().scalar;
  if (op == ScalarOp::select) return text(input(0), " ? ", input(1), " : ", input(2));
  if (op == ScalarOp::cast)
    return text("load(convert<", storage_type(node.type().dtype), ">(", input(0), "))");
  std::string value = text(functor_of(op), "{}(", input(0));
  for (size_t i = 1; i < node.input_count(); ++i) value += text(", ", input(i));
  return value + ")";
}

}  // namespace keratin::cuda
