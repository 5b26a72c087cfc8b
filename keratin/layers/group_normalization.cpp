#include "keratin/layers/normalizations.h"

#include "keratin/base/text.h"
#include "keratin/layers/norm_axes.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

GroupNormalizationLayer::GroupNormalizationLayer(GroupNormalizationConfig config,
                                                 LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.groups > 0 || cfg.groups == -1,
          "Received an invalid value for argument `groups`, expected a positive integer (or `-1` "
          "for instance normalization). Received: groups=",
          cfg.groups);
}

void GroupNormalizationLayer::build(const Shapes& inputs) {
  const Shape& input = inputs[0];
  const int64_t channels = input[norm_axes::checked(*this, input, cfg.axis)[0]];
  if (cfg.groups == -1) cfg.groups = channels;
  require(channels >= cfg.groups, "Number of groups (", cfg.groups,
          ") cannot be more than the number of channels (", channels, ").");
  require(channels % cfg.groups == 0, "Number of groups (", cfg.groups,
          ") must be a multiple of the number of channels (", channels, ").");
  if (cfg.scale)
    gamma_ = add_weight("gamma", {channels}, cfg.gamma_initializer,
                        {.regularizer = cfg.gamma_regularizer, .constraint = cfg.gamma_constraint});
  if (cfg.center)
    beta_ = add_weight("beta", {channels}, cfg.beta_initializer,
                       {.regularizer = cfg.beta_regularizer, .constraint = cfg.beta_constraint});
  set_input_spec({{.ndim = input.rank(), .axes = {{cfg.axis, channels}}}});
}

Results GroupNormalizationLayer::call(const Call& c) const {
  const Value x = ops::cast(c.input(), ops::statistics_dtype(c.input().dtype()));
  const auto weight = [&](const Variable& variable) {
    return variable.defined() ? ops::cast(c.read(variable), x.dtype()) : Value();
  };
  const Value y =
      ops::group_norm(x, weight(gamma_), weight(beta_), cfg.groups, cfg.axis, cfg.epsilon);
  return ops::cast(y, compute_dtype());
}

}  // namespace keratin
