#include "keratin/cli/made_up_data.h"

#include <cmath>

#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// Small numbers, and for integers only 0 and 1, which are valid indices of any table.
Tensor made_up_tensor(DType dtype, const Dims& dims) {
  Tensor out(dtype, dims);
  for (int64_t i = 0; i < out.count(); ++i)
    out.set(i, is_float(dtype) ? std::sin(static_cast<double>(i)) : static_cast<double>(i % 2));
  return out;
}

Dims sizes_of(const Shape& shape, int64_t batch, int64_t open_size) {
  Dims dims = shape.dims();
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == unknown) dims[i] = i == 0 ? batch : open_size;
  return dims;
}

Tensor made_up_input(const Slot& slot, int64_t batch, int64_t open_size, bool fixed) {
  Dims dims = slot.shape.dims();
  if (fixed && !dims.empty()) dims[0] = unknown;
  return made_up_tensor(slot.dtype.value_or(DType::f32), sizes_of(dims, batch, open_size));
}

// Losses of classes take their numbers: one for each row of probabilities.
Tensor made_up_target(const Slot& slot, const std::optional<Loss>& loss, int64_t batch,
                      int64_t open_size) {
  Dims dims = sizes_of(slot.shape, batch, open_size);
  if (!loss || loss->class_name().find("Sparse") == std::string::npos)
    return made_up_tensor(DType::f32, dims);
  if (dims.size() > 1) dims.back() = 1;
  return made_up_tensor(DType::i32, dims);
}

}  // namespace

Option open_size_option() {
  return {.name = "open-size",
          .value = "N",
          .help = "the size of open axes",
          .fallback = "32",
          .kind = Kind::integer,
          .min = 1};
}

Tree<Tensor> made_up_inputs(const Model& model, int64_t batch, int64_t open_size) {
  require(model.functional() != nullptr, "the model '", model.name(),
          "' does not say the shape of its input, so that no data can be made for it");
  std::vector<Tensor> tensors;
  const bool fixed = fixed_batch(model).has_value();
  for (const Slot& slot : input_slots(model))
    tensors.push_back(made_up_input(slot, batch, open_size, fixed));
  return packed_inputs(model, tensors);
}

Batch made_up_samples(const Model& model, int64_t batch, int64_t open_size) {
  const auto losses = model.trainer().options().loss.resolve(output_names(model), "loss");
  const std::vector<Slot> slots = output_slots(model);
  std::vector<Tensor> targets;
  for (size_t i = 0; i < slots.size(); ++i)
    targets.push_back(made_up_target(slots[i], losses[i], batch, open_size));
  return {made_up_inputs(model, batch, open_size),
          targets.size() == 1 ? Tree<Tensor>(targets[0]) : Tree<Tensor>(targets)};
}

}  // namespace keratin::cli
