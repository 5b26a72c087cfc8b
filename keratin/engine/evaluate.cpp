#include "keratin/engine/evaluate.h"

#include "keratin/ir/module.h"

namespace keratin {

Tensor evaluate(const std::vector<Tensor>& inputs,
                const std::function<Value(const Values& inputs)>& expression,
                const EngineOptions& options) {
  Module module;
  Values values;
  for (const Tensor& t : inputs) values.push_back(module.input({t.dtype(), t.shape()}));
  module.output(expression(values));
  return compile(std::move(module), options)(inputs)[0];
}

}  // namespace keratin
