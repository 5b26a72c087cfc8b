#include "keratin/base/text.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/layers/salt.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/lookup.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

// Without a dtype, hashes are int64. (A policy of float32 is what a layer has without one.)
LayerOptions with_integers(LayerOptions options, const std::string& mode) {
  if (mode == "int" && options.dtype.name() == "float32") options.dtype = "int64";
  return options;
}

Value equal_to(Value x, const Json& value, std::string_view who) {
  if (x.dtype() == DType::string) {
    require(value.is_string(), who, ": a mask value for strings must be a string, got ", value);
    const Tensor table(std::vector<std::string>{value.as_string()});
    return ops::lookup(x, ops::constant(x.block(), table)) >= 0.0;
  }
  require(value.is_number(), who, ": a mask value for numbers must be a number, got ", value);
  if (is_float(x.dtype()) || !value.is_int())
    return ops::equal(x, ops::scalar_like(x, value.as_double()));
  const Tensor whole = Tensor::of(DType::i64, {}, std::vector<int64_t>{value.as_int()});
  return ops::equal(ops::cast(x, DType::i64), ops::constant(x.block(), whole));
}

}  // namespace

ops::HashAttrs salted(int64_t bins, const Json& salt, std::string_view who) {
  if (salt.is_null()) return {.bins = bins};
  if (salt.is_int())
    return {.bins = bins, .strong = true, .key_low = salt.as_int(), .key_high = salt.as_int()};
  require(salt.is_array() && salt.size() == 2 && salt[0].is_int() && salt[1].is_int(),
          "The `salt` argument for `", who,
          "` can only be a tuple of size 2 integers, or a single integer. Received: salt=", salt,
          ".");
  return {.bins = bins, .strong = true, .key_low = salt[0].as_int(), .key_high = salt[1].as_int()};
}

HashingLayer::HashingLayer(HashingConfig config, LayerOptions options)
    : LayerOf(config, with_integers(std::move(options), config.output_mode)) {
  require(cfg.num_bins > 0,
          "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
          "num_bins=",
          cfg.num_bins, ".");
  const std::string& dtype = dtype_policy().name();
  require(cfg.output_mode != "int" || dtype == "int32" || dtype == "int64",
          "When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'in64'. "
          "Received: dtype=",
          dtype);
  const std::string& mode = cfg.output_mode;
  require(mode == "int" || mode == "one_hot" || mode == "multi_hot" || mode == "count",
          "Invalid value for argument `output_mode`. Expected one of ('int', 'one_hot', "
          "'multi_hot', 'count'). Received: output_mode=",
          mode);
  require(!cfg.sparse || mode != "int",
          "`sparse` may only be true if `output_mode` is `\"one_hot\"`, `\"multi_hot\"`, or "
          "`\"count\"`. Received: sparse=True and output_mode=int");
  salted(cfg.num_bins, cfg.salt, "Hashing");
  if (cfg.salt.is_int()) cfg.salt = Json::Array{cfg.salt, cfg.salt};
}

Value HashingLayer::bins_of(Value values) const {
  // With a mask value, bin 0 is for it.
  const bool masks = !cfg.mask_value.is_null() && cfg.num_bins > 1;
  const Value strings = is_float(values.dtype()) ? ops::cast(values, DType::i64) : values;
  const Value bins =
      ops::hash_bucket(strings, salted(cfg.num_bins - (masks ? 1 : 0), cfg.salt, "Hashing"));
  if (!masks) return bins;
  const Value one = ops::scalar_like(bins, 1);
  return ops::where(equal_to(values, cfg.mask_value, "Hashing"), ops::scalar_like(bins, 0),
                    bins + one);
}

Results HashingLayer::call(const Call& c) const {
  const Value x = c.input();
  require(cfg.output_mode != "one_hot" || x.rank() > 0,
          "Hashing: one_hot needs an axis, got one value");
  const Value bins = back_to(bins_of(on_host(x)), x);
  return encoded_categories(bins, cfg.output_mode, cfg.num_bins, variable_dtype());
}

HashedCrossingLayer::HashedCrossingLayer(HashedCrossingConfig config, LayerOptions options)
    : LayerOf(config, with_integers(std::move(options), config.output_mode)) {
  check_choice("HashedCrossing", "output_mode", cfg.output_mode, {"int", "one_hot"});
  require(cfg.num_bins > 0, "HashedCrossing: `num_bins` must be positive, got ", cfg.num_bins);
}

Json HashedCrossingLayer::get_config() const {
  Json json = own_config();
  json["name"] = name();
  json["dtype"] = keras_name(variable_dtype());
  return json;
}

Results HashedCrossingLayer::call(const Call& c) const {
  const Values inputs = c.inputs();
  require(inputs.size() >= 2,
          "`HashedCrossing` should be called on at least two inputs. Received: ", inputs.size());
  const Shape& first = inputs[0].shape();
  Values local;
  for (const Value& x : inputs) {
    require(x.rank() < 2 || (x.rank() == 2 && x.shape().back() == 1),
            "All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or "
            "`(batch_size, 1)`. Received: inputs=",
            x.type());
    require(compatible(x.shape(), first),
            "All `HashedCrossing` inputs should have equal shape. Received: inputs=", first,
            " and ", x.shape());
    require(x.dtype() == DType::string || is_integer(x.dtype()),
            "All `HashedCrossing` inputs should have an integer or string dtype. Received: inputs=",
            x.type());
    local.push_back(on_host(x));
  }
  const Value bins = back_to(ops::cross_hash(local, cfg.num_bins), inputs[0]);
  return encoded_categories(bins, cfg.output_mode, cfg.num_bins, compute_dtype());
}

}  // namespace keratin
