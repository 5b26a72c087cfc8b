#include <keratin/keratin.h>

#include <iostream>

// What an installed Keratin offers, used with its public headers alone.
using namespace keratin;

Tensor predicted(const Model& model, const Tensor& x);
Model opened(const char* path);

namespace {

// `using namespace keratin` leaves these names to the program.
int text = 0, require = 0, fail = 0, ensure = 0, mix = 0, walk = 0, hash_of = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "expected: " << what << '\n';
  std::exit(1);
}

// Two runs at the same time, each with its own results.
void start_programs() {
  Module module;
  const Value x = module.input({DType::f32, {2}}), total = module.state({DType::f32, {2}});
  module.output(x * 2.0);
  module.update(total, total + x);
  const Executable program = compile(std::move(module), {.state_stays = true});
  const Tensor state = Tensor::zeros(DType::f32, {2});
  const PendingResults first = program.start(std::vector{Tensor({1.F, 2.F}), state});
  const PendingResults second = program.start(std::vector{Tensor({3.F, 4.F}), state});
  expect(second.get()[0] == Tensor({6.F, 8.F}), "the second run's results");
  expect(first.get()[0] == Tensor({2.F, 4.F}), "the first run's results");
  expect(state.wait() == Tensor({4.F, 6.F}), "the state after both runs");
}

// The same for a model.
void start_model() {
  const auto input = Input({2});
  const Model model({.inputs = input, .outputs = Dense({.units = 1})(input)});
  const Tensor x({{1.F, 2.F}, {3.F, 4.F}});
  Arguments<MaskedTensor> arguments;
  arguments.positional = {MaskedTensor{x}};
  const PendingOutputs pending = model.program(x)->start(arguments);
  expect(Tensor(pending.get()) == Tensor(model.predict(x)), "the outputs of predict");

  model.save("consumer.keras");
  expect(predicted(opened("consumer.keras"), x).shape() == Shape({2, 1}), "outputs of 2 x 1");
}

}  // namespace

int main() {
  start_programs();
  start_model();
  std::cout << "keratin " << version() << '\n';
  return text + require + fail + ensure + mix + walk + hash_of;
}
