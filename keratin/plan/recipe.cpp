#include "keratin/plan/recipe.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"

namespace keratin {

namespace {

// A node by itself, as a module whose inputs are those of the node.
std::string text_of(const Node& node) {
  Module module;
  for (const Value& input : node.inputs()) module.input(input.type());
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : node.regions()) regions.push_back(clone_block(*region, 1));
  Node& copy = module.block().append(node.op(), module.block().parameter_values(), node.attrs(),
                                     std::move(regions));
  for (const Value& output : copy.outputs()) module.output(output);
  return text(module);
}

class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan) {}

  void step(const PlanStep& step, size_t output) {
    if (step.preparation == nullptr) return value(step.node->out(output));
    recipe_.text += text("prepare(", step.kernel->describe());
    for (size_t i = 0; i < step.input_count(); ++i)
      if (step.preparation->reads(i)) value(step.node->in(i));
    recipe_.text += ')';
  }
  Recipe take() { return std::move(recipe_); }

 private:
  // Stable values are computed by few ops, so the text is short though it repeats what is shared.
  void value(Value v) {
    const Node& node = v.node();
    if (is_parameter(node)) return state(v);
    if (const Tensor* constant = ops::constant_value(v)) {
      recipe_.text += text("(constant ", v.type(), ' ', constant->hash(), ')');
      return;
    }
    recipe_.text += text('(', text_of(node), v.index());
    for (const Value& input : node.inputs()) value(input);
    recipe_.text += ')';
  }

  void state(Value v) {
    const auto& parameters = plan_.module.block().parameters();
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& p) { return p.get() == &v.node(); });
    const auto parameter = static_cast<size_t>(found - parameters.begin());
    auto& states = recipe_.states;
    const auto known = std::find(states.begin(), states.end(), parameter);
    recipe_.text += text("(state ", v.type(), ' ', known - states.begin(), ')');
    if (known == states.end()) states.push_back(parameter);
  }

  const Plan& plan_;
  Recipe recipe_;
};

}  // namespace

Recipe recipe_of(const Plan& plan, const PlanStep& step, size_t output) {
  Writer writer(plan);
  writer.step(step, output);
  return writer.take();
}

}  // namespace keratin
