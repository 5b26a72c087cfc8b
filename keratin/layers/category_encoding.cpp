#include "keratin/base/text.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

// Keras 2's names of modes.
std::string name_of_today(const std::string& mode) { return mode == "binary" ? "multi_hot" : mode; }

}  // namespace

void check_choice(std::string_view who, std::string_view argument, const std::string& value,
                  std::initializer_list<std::string_view> allowed) {
  std::string list;
  for (const std::string_view choice : allowed) {
    if (choice == value) return;
    list += text(list.empty() ? "'" : ", '", choice, "'");
  }
  fail("Unknown value for `", argument, "` argument of ", who, ". Allowed values are: (", list,
       "). Received: ", argument, "=", value);
}

Value encoded_categories(Value indices, const std::string& mode, int64_t depth, DType dtype,
                         Value count_weights) {
  if (mode == "int") return ops::cast(indices, dtype);
  if (indices.rank() == 0) indices = ops::expand_dims(indices, 0);
  if (mode == "one_hot") {
    if (indices.rank() > 1 && indices.shape().back() == 1) indices = ops::squeeze(indices, -1);
    return ops::one_hot(indices, depth, dtype);
  }
  Value each = ops::one_hot(indices, depth, dtype);
  const int64_t sample = indices.rank() > 1 ? 1 : 0;
  if (mode == "multi_hot")
    return indices.shape()[sample] == 0 ? ops::sum(each, {sample}) : ops::max(each, {sample});
  if (count_weights.defined()) each = each * ops::expand_dims(count_weights, -1);
  return ops::sum(each, {sample});
}

Value on_host(Value x) {
  return x.type().device.kind == Device::Kind::cpu ? x : ops::transfer(x, Device{});
}

Value back_to(Value x, Value like) {
  const Device device = like.type().device;
  return x.type().device == device ? x : ops::transfer(x, device);
}

CategoryEncodingLayer::CategoryEncodingLayer(CategoryEncodingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  cfg.output_mode = name_of_today(cfg.output_mode);
  require(
      cfg.output_mode == "count" || cfg.output_mode == "one_hot" || cfg.output_mode == "multi_hot",
      "Unknown arg for output_mode: ", cfg.output_mode);
  require(cfg.num_tokens.has_value(),
          "num_tokens must be set to use this layer. If the number of tokens is not known "
          "beforehand, use the IntegerLookup layer instead.");
  require(*cfg.num_tokens >= 1, "`num_tokens` must be >= 1. Received: num_tokens=", *cfg.num_tokens,
          ".");
}

Results CategoryEncodingLayer::call(const Call& c) const {
  Value weights = c.tensor(1, "count_weights");
  require(!weights.defined() || cfg.output_mode == "count",
          "`count_weights` is not used when `output_mode` is not `'count'`. Received "
          "`count_weights=",
          weights.defined() ? text(weights.type()) : "None", "`.");
  if (weights.defined()) {
    weights = ops::cast(weights, variable_dtype());
    if (weights.rank() == 0) weights = ops::expand_dims(weights, 0);
  }
  Value indices = c.input();
  if (indices.dtype() != DType::i32) indices = ops::cast(indices, DType::i64);
  return encoded_categories(indices, cfg.output_mode, *cfg.num_tokens, variable_dtype(), weights);
}

}  // namespace keratin
