// One step of gradient descent as one program, written in ops.
#include <keratin/keratin.h>

#include <iostream>
using namespace keratin;

int main() {
  Module module;  // one step of gradient descent on mean((x·w - y)²), as one program
  const Value x = module.input({DType::f32, {8, 3}}, "x");
  const Value y = module.input({DType::f32, {8, 1}}, "y");
  const Value w = module.state({DType::f32, {3, 1}}, "w");
  const Value loss = ops::mean(ops::square(ops::matmul(x, w) - y));
  module.output(loss);
  module.update(w, w - gradients(loss, {w})[0] * 0.1);

  const Executable step = compile(std::move(module));
  const Tensor inputs = Tensor::full(DType::f32, {8, 3}, 1),
               targets = Tensor::full(DType::f32, {8, 1}, 6);
  const Tensor weights = Tensor::zeros(DType::f32, {3, 1});
  for (int i = 0; i < 20; ++i) std::cout << step({inputs, targets, weights})[0] << '\n';
}
