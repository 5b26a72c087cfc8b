#include "keratin/io/keras2_optimizer.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/warning.h"
#include "keratin/io/weights.h"

namespace keratin::io {
namespace {

// Up to 2.10 one kind of slots came after the other. From 2.11 on all is as today, and in these the
// first two kinds of a variable stand side by side.
constexpr std::string_view in_pairs[] = {"Adam", "Adamax", "Nadam", "Adadelta"};

bool kinds_apart(const StoredState& stored, const OptimizerState& optimizer) {
  return !stored.names.empty() && stored.names[0] != "iteration:0" &&
         std::find(std::begin(in_pairs), std::end(in_pairs), optimizer.class_name()) !=
             std::end(in_pairs);
}

bool is_nadam(const OptimizerState& optimizer) { return optimizer.class_name() == "Nadam"; }

// The optimizer's slots that Keras 2 saves.
std::vector<Variable> saved_slots(const OptimizerState& optimizer) {
  std::vector<Variable> all = optimizer.variables();
  const bool has_rate = all.size() > 1 && all[1].name() == "learning_rate";
  all.erase(all.begin(), all.begin() + (has_rate ? 2 : 1));
  if (is_nadam(optimizer)) all.pop_back();
  return all;
}

// What Nadam keeps beside its slots is the product of all momentums so far. Files of Keras 2 lack
// it, but it follows from the number of steps: see nadam.h. Soon there is nothing left of it.
Assignment momentums_so_far(const OptimizerState& optimizer, const Tensor& iteration) {
  constexpr double most = 10'000;
  const double beta_1 = optimizer.get_config().at("beta_1").as_double();
  const double steps = std::min(iteration.at(0), most);
  double product = 1;
  for (int t = 1; t <= steps; ++t) product *= beta_1 * (1 - std::pow(0.96, t) / 2);
  const Variable kept = optimizer.variables().back();
  return {kept, Tensor::scalar(kept.dtype(), product)};
}

// Nothing where the state does not fit. There may be more: SGD of Keras 2 has slots that it needs
// for a momentum only, and Adam those of amsgrad.
std::vector<Assignment> fitting(const StoredState& stored, const OptimizerState& optimizer) {
  const std::vector<Variable> slots = saved_slots(optimizer);
  const size_t count = optimizer.trained().size();
  if (stored.values.size() < 1 + slots.size() || !stored.values[0].dims().empty()) return {};
  std::vector<Assignment> all{{optimizer.variables()[0], stored.values[0].read()}};
  const bool apart = kinds_apart(stored, optimizer);
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t place = apart && i < 2 * count ? i % 2 * count + i / 2 : i;
    const hdf5::Dataset& value = stored.values[1 + place];
    if (Shape(value.dims()) != slots[i].shape()) return {};
    all.push_back({slots[i], value.read()});
  }
  if (is_nadam(optimizer)) all.push_back(momentums_so_far(optimizer, all[0].value));
  return all;
}

}  // namespace

void warn_of_other_state(const OptimizerState& optimizer, const std::string& where) {
  warn(text(where, ": the optimizer's state does not fit ", optimizer.class_name(),
            "; it starts anew"));
}

void read_keras2_state(const StoredState& stored, const OptimizerState& optimizer,
                       const std::string& where) {
  const std::vector<Assignment> all = fitting(stored, optimizer);
  if (all.empty()) warn_of_other_state(optimizer, where);
  assign(all);
}

}  // namespace keratin::io
