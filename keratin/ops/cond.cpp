#include "keratin/ops/cond.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/flops.h"
#include "keratin/ops/records.h"
#include "keratin/ops/region.h"

namespace keratin::ops {

namespace {

Values after_condition(const Values& inputs) { return {inputs.begin() + 1, inputs.end()}; }

Types infer_cond(const Node& n) {
  require(n.input_count() > 0 && n.in().dtype() == DType::boolean && n.in().rank() == 0,
          "cond: the condition must be one bool, got ",
          n.input_count() > 0 ? text(n.in().type()) : "nothing");
  const Types inputs = types_of(after_condition(n.inputs()));
  for (const auto& region : n.regions()) require_parameters(*region, inputs, "cond");
  const Values &then = n.region(0).results, &otherwise = n.region(1).results;
  require(then.size() == otherwise.size(), "cond: one branch gives ", then.size(),
          " values, the other ", otherwise.size());
  Types types;
  for (size_t i = 0; i < then.size(); ++i) {
    types.push_back(then[i].type());
    require(unify(types[i], otherwise[i].type()), "cond: result ", i, " is ", then[i].type(),
            " in one branch, ", otherwise[i].type(), " in the other");
  }
  return types;
}

// The inputs of a node that gradients flow to.
std::vector<size_t> float_inputs(const Node& n) {
  std::vector<size_t> found;
  for (size_t i = 0; i < n.input_count(); ++i)
    if (is_float(n.in(i).dtype())) found.push_back(i);
  return found;
}

// cond(condition, (inputs, dy), branches pulled back)
Values cond_grad(const Node& n, const Values& dy, PullBack pull_back) {
  const std::vector<size_t> wanted = float_inputs(n);
  const size_t inputs = n.input_count() - 1;
  const auto backwards = [&](const Block& branch) {
    return [&, pull_back](const Values& in) {
      Block& block = in[0].block();
      const auto first_dy = in.begin() + static_cast<int64_t>(inputs);
      const Values results = inline_block(branch, block, {in.begin(), first_dy});
      Values wrt;
      for (size_t i : wanted) wrt.push_back(in[i - 1]);
      Values found = pull_back(block, results, {first_dy, in.end()}, wrt);
      for (size_t i = 0; i < wrt.size(); ++i)
        if (!found[i].defined()) found[i] = full(block, wrt[i].dtype(), wrt[i].shape(), 0);
      return found;
    };
  };
  Values all = after_condition(n.inputs());
  all.insert(all.end(), dy.begin(), dy.end());
  Values result(n.input_count());
  if (wanted.empty()) return result;
  const Values found = cond(n.in(), all, backwards(n.region(0)), backwards(n.region(1)));
  for (size_t i = 0; i < wanted.size(); ++i) result[wanted[i]] = found[i];
  return result;
}

}  // namespace

// condition ? then(inputs) : otherwise(inputs)
const OpDef cond_op{
    .name = "cond",
    .regions = 2,
    .infer = infer_cond,
    .grad_regions = cond_grad,
    .flops = [](const Node& n) { return std::max(flops(n.region(0)), flops(n.region(1))); },
};

Values cond(Value condition, const Values& inputs, const Body& then, const Body& otherwise) {
  Values all{condition};
  all.insert(all.end(), inputs.begin(), inputs.end());
  for (const Value& value : all) require(value.defined(), "cond: an input is undefined");
  std::vector<std::unique_ptr<Block>> regions;
  for (const Body* branch : {&then, &otherwise}) {
    regions.push_back(write_region(types_of(inputs), all, *branch));
    for (const Value& result : regions.back()->results)
      require(result.defined(), "cond: a branch gives an undefined value");
  }
  return emit_with_regions(cond_op, all, {}, std::move(regions)).outputs();
}

}  // namespace keratin::ops
