#include "keratin/optimizers/sgd.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "keratin/graph/named.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/optimizers/adam_rule.h"
#include "keratin/optimizers/pattern.h"

namespace keratin {
namespace {

Value transposed(Value x) { return ops::transpose(x, {1, 0}); }

}  // namespace

MuonOptimizer::MuonOptimizer(MuonConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

bool MuonOptimizer::follows_adam(const Variable& v) const {
  if (v.shape().rank() != 2) return true;
  if (cfg.exclude_embeddings && lower_case(v.path()).find("embedding") != std::string::npos)
    return true;
  return std::any_of(cfg.exclude_layers.begin(), cfg.exclude_layers.end(),
                     [&](const std::string& pattern) { return found_in(v.path(), pattern); });
}

void MuonOptimizer::make_slots(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) {
    momentums_.push_back(add_slot(v, "momentum"));
    velocities_.push_back(follows_adam(v) ? add_slot(v, "velocity") : Variable());
  }
}

std::optional<double> MuonOptimizer::weight_decay_of(const Variable& v) const {
  return follows_adam(v) ? cfg.adam_weight_decay : cfg.weight_decay;
}

// A matrix with the same singular vectors, whose singular values are about 1.
Value MuonOptimizer::orthogonal(Value x) const {
  const bool tall = x.shape()[0] > x.shape()[1];
  if (tall) x = transposed(x);
  x = x / (ops::sqrt(ops::sum(ops::square(x))) + 1e-7);
  for (int64_t i = 0; i < cfg.ns_steps; ++i) {
    const Value a = ops::matmul(x, x, {.transpose_b = true});
    const Value b = a * cfg.muon_b + ops::matmul(a * cfg.muon_c, a);
    x = x * cfg.muon_a + ops::matmul(b, x);
  }
  return tall ? transposed(x) : x;
}

void MuonOptimizer::update(const Step& s) {
  const Variable& slot = momentums_[s.index];
  if (const Variable& velocity = velocities_[s.index]; velocity.defined()) {
    Step slowed = s;
    slowed.rate = s.rate * cfg.adam_lr_ratio;
    AdamRule{cfg.adam_beta_1, cfg.adam_beta_2, cfg.epsilon}(slowed, slot, velocity);
    return;
  }
  const Value old = s.read(slot);
  const Value m = s.assign(slot, old + (s.gradient + old * (cfg.momentum - 1)));
  Value change = s.rate * orthogonal(cfg.nesterov ? s.gradient + m * cfg.momentum : m);
  if (cfg.rms_rate) {
    const auto largest = std::max(change.shape()[0], change.shape()[1]);
    change = change * std::sqrt(static_cast<double>(largest)) * *cfg.rms_rate;
  }
  s.descend(change);
}

}  // namespace keratin
