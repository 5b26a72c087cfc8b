#include "keratin/passes/simplify.h"

#include "keratin/passes/simplify_rules.h"

namespace keratin {

Module simplify(Module module) {
  std::vector<RuleFor> rules;
  for (const auto& family : {number_rules(), shape_rules(), pool_rules(), norm_rules()})
    rules.insert(rules.end(), family.begin(), family.end());
  return apply_rules(std::move(module), rules);
}

}  // namespace keratin
