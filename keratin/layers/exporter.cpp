#include "keratin/layers/exporter.h"

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/graph/operation.h"
#include "keratin/ops/constant.h"

namespace keratin {
namespace {

constexpr int64_t max_constant = 1 << 20;  // elements of an array in a config

Json element(const Tensor& tensor, int64_t i) {
  const double value = tensor.at(i);
  if (tensor.dtype() == DType::boolean) return value != 0;
  if (is_float(tensor.dtype())) return value;
  return tensor.dtype() == DType::i64 ? tensor.data<int64_t>()[static_cast<size_t>(i)]
                                      : static_cast<int64_t>(value);
}

Json elements(const Tensor& tensor, int64_t axis, int64_t& next) {
  if (axis == tensor.shape().rank()) return element(tensor, next++);
  Json items = Json::array();
  for (int64_t i = 0; i < tensor.shape()[axis]; ++i)
    items.push_back(elements(tensor, axis + 1, next));
  return items;
}

// An array of NumPy, as Keras writes it.
Json array_json(const Tensor& tensor) {
  require(tensor.count() <= max_constant, "it has a constant of ", tensor.count(),
          " elements, more than the ", max_constant, " that a config may hold");
  int64_t next = 0;
  return Json::Object{{"class_name", "__numpy__"},
                      {"config", Json::Object{{"value", elements(tensor, 0, next)},
                                              {"dtype", keras_name(tensor.dtype())}}}};
}

}  // namespace

Symbols Exporter::call(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                       Json options) {
  std::string name = snake_case(class_name);
  if (const size_t before = used_[name]++; before > 0) name = text(name, '_', before);
  const auto layer = std::make_shared<OperationLayer>(operation_named(class_name),
                                                      std::move(options), LayerOptions{name});
  return layer->call_symbolic(std::move(arguments));
}

Symbols Exporter::call(std::string_view class_name, std::vector<Symbols> arguments, Json options) {
  return call(class_name, Arguments<SymbolicTensor>{std::move(arguments), {}}, std::move(options));
}

void Exporter::bind(Value value, const Symbols& tensor) {
  values_[{&value.node(), value.index()}] = tensor;
}

bool Exporter::is_constant(Value value) const { return ops::constant_value(value) != nullptr; }

Symbols Exporter::tensor(Value value) {
  if (const Tensor* constant = ops::constant_value(value)) return array_json(*constant);
  return values_.at({&value.node(), value.index()});
}

Symbols Exporter::operand(Value value) {
  const Tensor* constant = ops::constant_value(value);
  return constant != nullptr && constant->shape().rank() == 0 ? Symbols(element(*constant, 0))
                                                              : tensor(value);
}

}  // namespace keratin
