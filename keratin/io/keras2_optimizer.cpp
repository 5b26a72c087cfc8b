#include "keratin/io/keras2_optimizer.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/io/weights.h"

namespace keratin::io {
namespace {

// Optimizers that store the two slots of a variable side by side. Up to 2.10, Keras stored all
// slots of the first kind, and then all of the second.
constexpr std::string_view with_pairs[] = {"Adam", "Adamax", "Nadam", "Adadelta"};

bool has_slot_pairs(const OptimizerState& optimizer) {
  return std::find(std::begin(with_pairs), std::end(with_pairs), optimizer.class_name()) !=
         std::end(with_pairs);
}

// True if the file has all slots of one kind before those of the next kind.
bool is_sorted_by_kind(const StoredState& stored, const OptimizerState& optimizer) {
  return !stored.names.empty() && stored.names[0] != "iteration:0" && has_slot_pairs(optimizer);
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

// Computes Nadam's product of all momentums so far. Files of Keras 2 lack it, but it follows from
// the number of steps: see nadam.cpp. After 10,000 steps it is 0.
Assignment momentum_product(const OptimizerState& optimizer, const Tensor& iteration) {
  constexpr double max_steps = 10'000;
  const double beta_1 = optimizer.get_config().at("beta_1").as_double();
  const double steps = std::min(iteration.at(0), max_steps);
  double product = 1;
  for (int t = 1; t <= steps; ++t) product *= beta_1 * (1 - std::pow(0.96, t) / 2);
  const Variable kept = optimizer.variables().back();
  return {kept, Tensor::scalar(kept.dtype(), product)};
}

// The position of the first slot: after the iteration and, for Nadam in Keras 2.3, its m_schedule.
struct Layout {
  bool has_iteration = false;
  size_t begin = 0;
};

Layout layout_of(const StoredState& stored, const OptimizerState& optimizer) {
  Layout layout;
  if (stored.values.empty()) return layout;
  const auto name_has = [&](size_t i, std::string_view word) {
    return i < stored.names.size() && stored.names[i].find(word) != std::string::npos;
  };
  const std::vector<Variable>& trained = optimizer.trained();
  // The iteration is a scalar that is not the slot of a scalar weight.
  layout.has_iteration = stored.values[0].dims().empty() &&
                         (trained.empty() || trained[0].shape().rank() > 0 || name_has(0, "iter"));
  layout.begin = layout.has_iteration ? 1 : 0;
  if (is_nadam(optimizer) && name_has(layout.begin, "m_schedule")) ++layout.begin;
  return layout;
}

uint64_t claimed(const hdf5::Dataset& value) {
  double count = 1;
  for (const int64_t size : value.dims()) count *= static_cast<double>(size);
  return count < 1e18 ? static_cast<uint64_t>(count) : ~uint64_t{0};
}

// The slots of the file in today's layout, kind by kind; empty if they do not fit.
std::vector<Tensor> converted(const StoredState& stored, size_t begin, size_t kinds,
                              const std::vector<Variable>& slots) {
  if (stored.values.size() < begin + kinds * stored.per_kind) return {};
  uint64_t expected = 0, total = 0;
  for (const Variable& slot : slots) expected += static_cast<uint64_t>(slot.shape().count());
  std::vector<Tensor> all;
  for (size_t kind = 0; kind < kinds; ++kind) {
    std::vector<Tensor> own;
    for (size_t i = 0; i < stored.per_kind; ++i) {
      const hdf5::Dataset& value = stored.values[begin + kind * stored.per_kind + i];
      const uint64_t count = claimed(value);
      if (count > expected - total) return {};  // refused before it is read
      total += count;
      own.push_back(value.read());
    }
    for (Tensor& one : stored.convert(own)) all.push_back(std::move(one));
  }
  return all;
}

// The slots at the given positions of the file, if they have the slots' shapes; else empty.
std::vector<Tensor> as_stored(const StoredState& stored, size_t begin,
                              const std::vector<Variable>& slots,
                              const std::vector<size_t>& positions) {
  std::vector<Tensor> all;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (begin + positions[i] >= stored.values.size()) return {};
    const hdf5::Dataset& value = stored.values[begin + positions[i]];
    if (Shape(value.dims()) != slots[i].shape()) return {};
    all.push_back(value.read());
  }
  return all;
}

// The position of each slot among those of the file.
std::vector<size_t> positions_of(const StoredState& stored, const OptimizerState& optimizer,
                                 size_t slots) {
  const size_t count = optimizer.trained().size();
  const bool by_kind = is_sorted_by_kind(stored, optimizer);
  std::vector<size_t> positions;
  for (size_t i = 0; i < slots; ++i)
    positions.push_back(by_kind && i < 2 * count ? i % 2 * count + i / 2 : i);
  return positions;
}

// The values of the optimizer's state; empty if the file's state does not fit. The file may have
// more slots: Keras 2 writes those of SGD's momentum and Adam's amsgrad even if they are not used.
std::vector<Assignment> fitting_state(const StoredState& stored, const OptimizerState& optimizer) {
  const std::vector<Variable> slots = saved_slots(optimizer);
  const size_t count = optimizer.trained().size();
  const Layout layout = layout_of(stored, optimizer);
  if (stored.values.empty() || (slots.empty() && !layout.has_iteration)) return {};
  const std::vector<size_t> positions = positions_of(stored, optimizer, slots.size());
  std::vector<Tensor> values;
  if (stored.convert && count > 0) {
    const auto in_file = converted(stored, layout.begin, slots.size() / count, slots);
    for (size_t i = 0; i < positions.size() && in_file.size() == slots.size(); ++i)
      values.push_back(in_file[positions[i]]);
  } else {
    values = as_stored(stored, layout.begin, slots, positions);
  }
  if (values.size() != slots.size()) return {};
  const Variable steps = optimizer.variables()[0];
  // Some versions stored the iteration as a float.
  const Tensor iteration = layout.has_iteration ? stored.values[0].read().cast(steps.dtype())
                                                : Tensor::zeros(steps.dtype(), {});
  std::vector<Assignment> all{{steps, iteration}};
  for (size_t i = 0; i < slots.size(); ++i) {
    if (values[i].shape() != slots[i].shape()) return {};
    all.push_back({slots[i], values[i]});
  }
  if (is_nadam(optimizer)) all.push_back(momentum_product(optimizer, all[0].value));
  return all;
}

}  // namespace

void warn_of_other_state(const OptimizerState& optimizer, const std::string& where) {
  warn(text(where, ": the optimizer's state in the file does not fit ", optimizer.class_name(),
            " and is ignored"));
}

void read_keras2_state(const StoredState& stored, const OptimizerState& optimizer,
                       const std::string& where) {
  // Keras 2 makes the iteration in `compile` and the slots in the first step.
  if (stored.values.size() == 1 && stored.values[0].dims().empty() &&
      stored.values[0].read().at(0) == 0)
    return;
  std::vector<Assignment> all;
  try {
    all = fitting_state(stored, optimizer);
  } catch (const UserError&) {
    all.clear();  // the state of another model; the warning follows
  }
  if (all.empty()) warn_of_other_state(optimizer, where);
  assign(all);
}

}  // namespace keratin::io
