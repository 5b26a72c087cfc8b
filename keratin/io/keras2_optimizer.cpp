#include "keratin/io/keras2_optimizer.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/io/weights.h"

namespace keratin::io {
namespace {

// Up to 2.10 one kind of slots came after the other. From 2.11 on all is as today, and in these the
// first two kinds of a variable stand side by side.
constexpr std::string_view in_pairs[] = {"Adam", "Adamax", "Nadam", "Adadelta"};

bool keeps_pairs(const OptimizerState& optimizer) {
  return std::find(std::begin(in_pairs), std::end(in_pairs), optimizer.class_name()) !=
         std::end(in_pairs);
}

bool kinds_apart(const StoredState& stored, const OptimizerState& optimizer) {
  return !stored.names.empty() && stored.names[0] != "iteration:0" && keeps_pairs(optimizer);
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

// Where the slots begin: behind the iteration, and what Nadam had beside it in Keras 2.3.
struct Layout {
  bool has_iteration = false;
  size_t begin = 0;
};

Layout layout_of(const StoredState& stored, const OptimizerState& optimizer) {
  Layout layout;
  if (stored.values.empty()) return layout;
  const auto says = [&](size_t i, std::string_view word) {
    return i < stored.names.size() && stored.names[i].find(word) != std::string::npos;
  };
  const std::vector<Variable> trained = optimizer.trained();
  // A number, and not the slot of a weight that is one.
  layout.has_iteration = stored.values[0].dims().empty() &&
                         (trained.empty() || trained[0].shape().rank() > 0 || says(0, "iter"));
  layout.begin = layout.has_iteration ? 1 : 0;
  if (is_nadam(optimizer) && says(layout.begin, "m_schedule")) ++layout.begin;
  return layout;
}

uint64_t claimed(const hdf5::Dataset& value) {
  double count = 1;
  for (const int64_t size : value.dims()) count *= static_cast<double>(size);
  return count < 1e18 ? static_cast<uint64_t>(count) : ~uint64_t{0};
}

// The slots of the file kind by kind, in today's layout; nothing where they cannot be.
std::vector<Tensor> converted(const StoredState& stored, size_t begin, size_t kinds,
                              const std::vector<Variable>& slots) {
  if (stored.values.size() < begin + kinds * stored.per_kind) return {};
  uint64_t wanted = 0, there = 0;
  for (const Variable& slot : slots) wanted += static_cast<uint64_t>(slot.shape().count());
  std::vector<Tensor> all;
  for (size_t kind = 0; kind < kinds; ++kind) {
    std::vector<Tensor> own;
    for (size_t i = 0; i < stored.per_kind; ++i) {
      const hdf5::Dataset& value = stored.values[begin + kind * stored.per_kind + i];
      const uint64_t more = claimed(value);
      if (more > wanted - there) return {};  // nothing that claims to be larger is read
      there += more;
      own.push_back(value.read());
    }
    for (Tensor& one : stored.convert(own)) all.push_back(std::move(one));
  }
  return all;
}

// The slots as they lie in the file, without a look at their shapes.
std::vector<Tensor> as_stored(const StoredState& stored, size_t begin,
                              const std::vector<Variable>& slots,
                              const std::vector<size_t>& places) {
  std::vector<Tensor> all;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (begin + places[i] >= stored.values.size()) return {};
    const hdf5::Dataset& value = stored.values[begin + places[i]];
    if (Shape(value.dims()) != slots[i].shape()) return {};
    all.push_back(value.read());
  }
  return all;
}

// Where each slot is among those of the file.
std::vector<size_t> places_of(const StoredState& stored, const OptimizerState& optimizer,
                              size_t slots) {
  const size_t count = optimizer.trained().size();
  const bool apart = kinds_apart(stored, optimizer);
  std::vector<size_t> places;
  for (size_t i = 0; i < slots; ++i)
    places.push_back(apart && i < 2 * count ? i % 2 * count + i / 2 : i);
  return places;
}

// Nothing where the state does not fit. There may be more: SGD of Keras 2 has slots that it needs
// for a momentum only, and Adam those of amsgrad.
std::vector<Assignment> fitting(const StoredState& stored, const OptimizerState& optimizer) {
  const std::vector<Variable> slots = saved_slots(optimizer);
  const size_t count = optimizer.trained().size();
  const Layout layout = layout_of(stored, optimizer);
  if (stored.values.empty() || (slots.empty() && !layout.has_iteration)) return {};
  const std::vector<size_t> places = places_of(stored, optimizer, slots.size());
  std::vector<Tensor> values;
  if (stored.convert && count > 0) {
    const auto in_file = converted(stored, layout.begin, slots.size() / count, slots);
    for (size_t i = 0; i < places.size() && in_file.size() == slots.size(); ++i)
      values.push_back(in_file[places[i]]);
  } else {
    values = as_stored(stored, layout.begin, slots, places);
  }
  if (values.size() != slots.size()) return {};
  const Variable steps = optimizer.variables()[0];
  // It was a float once.
  const Tensor iteration = layout.has_iteration ? stored.values[0].read().cast(steps.dtype())
                                                : Tensor::zeros(steps.dtype(), {});
  std::vector<Assignment> all{{steps, iteration}};
  for (size_t i = 0; i < slots.size(); ++i) {
    if (values[i].shape() != slots[i].shape()) return {};
    all.push_back({slots[i], values[i]});
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
  // Keras 2 counts steps from `compile` on, and makes slots in the first one.
  if (stored.values.size() == 1 && stored.values[0].dims().empty() &&
      stored.values[0].read().at(0) == 0)
    return;
  std::vector<Assignment> all;
  try {
    all = fitting(stored, optimizer);
  } catch (const UserError&) {
    all.clear();  // of another model: said below
  }
  if (all.empty()) warn_of_other_state(optimizer, where);
  assign(all);
}

}  // namespace keratin::io
