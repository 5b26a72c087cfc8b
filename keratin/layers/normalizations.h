#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct KERATIN_API BatchNormalizationConfig {
  Sizes axis = -1;  // of the channels
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  bool synchronized = false;  // uses the statistics of all replicas together
  bool renorm = false;        // in training, corrects the batch's statistics by the moving averages
  Json renorm_clipping = {};  // {"rmin", "rmax", "dmax"}, each optional
  double renorm_momentum = 0.99;

  static constexpr std::string_view keras_name = "BatchNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training", "mask");
  static constexpr auto fields = field_list(
      field("axis", &BatchNormalizationConfig::axis),
      field("momentum", &BatchNormalizationConfig::momentum), fields_of<ScaleAndCenterFields>(),
      field("beta_initializer", &BatchNormalizationConfig::beta_initializer),
      field("gamma_initializer", &BatchNormalizationConfig::gamma_initializer),
      field("moving_mean_initializer", &BatchNormalizationConfig::moving_mean_initializer),
      field("moving_variance_initializer", &BatchNormalizationConfig::moving_variance_initializer),
      field("beta_regularizer", &BatchNormalizationConfig::beta_regularizer),
      field("gamma_regularizer", &BatchNormalizationConfig::gamma_regularizer),
      field("beta_constraint", &BatchNormalizationConfig::beta_constraint),
      field("gamma_constraint", &BatchNormalizationConfig::gamma_constraint),
      field("synchronized", &BatchNormalizationConfig::synchronized),
      field("renorm", &BatchNormalizationConfig::renorm),
      field("renorm_clipping", &BatchNormalizationConfig::renorm_clipping),
      field("renorm_momentum", &BatchNormalizationConfig::renorm_momentum));
};

// (x - mean) / √(variance + epsilon) · gamma + beta, channel by channel. In training, mean and
// variance are the batch's, and update moving averages, which inference uses. A layer that is not
// trainable always uses the averages. Masked positions do not count.
class KERATIN_API BatchNormalizationLayer final
    : public LayerOf<BatchNormalizationLayer, BatchNormalizationConfig> {
 public:
  BatchNormalizationLayer(BatchNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }

 private:
  struct Moments {
    Value mean, variance;
  };
  // True if the statistics are those of all replicas.
  bool together(const Call& c) const;
  Moments moments(const Call& c, Value x, const std::optional<Value>& mask) const;
  Moments masked_moments(const Call& c, Value x, Value mask) const;
  Value normalize_batch(const Call& c, Value x, const std::optional<Value>& mask) const;
  Value renormalize(const Call& c, Value x, const Moments& batch) const;
  Value read(const Call& c, const Variable& variable, Value like) const;
  void move(const Call& c, const Variable& average, Value value, double momentum) const;
  void check_clipping();
  void build_renorm(const Shape& shape);

  int64_t axis_ = -1;
  Variable gamma_, beta_, moving_mean_, moving_variance_;
  Variable moving_stddev_, renorm_mean_, renorm_stddev_;
};

using BatchNormalization = Shared<BatchNormalizationLayer>;

struct KERATIN_API LayerNormalizationConfig {
  Sizes axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  bool rms_scaling = false;  // x / √(variance + epsilon) · gamma, in older models
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};

  static constexpr std::string_view keras_name = "LayerNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("axis", &LayerNormalizationConfig::axis), fields_of<ScaleAndCenterFields>(),
                 field("rms_scaling", &LayerNormalizationConfig::rms_scaling),
                 fields_of<BetaAndGammaFields>());
};

// (x - mean) / √(variance + epsilon) · gamma + beta, with the statistics of each sample over the
// axes.
class KERATIN_API LayerNormalizationLayer final
    : public LayerOf<LayerNormalizationLayer, LayerNormalizationConfig> {
 public:
  LayerNormalizationLayer(LayerNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // The input keeps its precision; only the result is cast to the layer's dtype.
  bool autocasts() const override { return false; }

 private:
  Dims axes_;  // sorted
  Variable gamma_, beta_;
};

using LayerNormalization = Shared<LayerNormalizationLayer>;

struct KERATIN_API GroupNormalizationConfig {
  int64_t groups = 32;  // -1: one for each channel
  int64_t axis = -1;    // of the channels
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};

  static constexpr std::string_view keras_name = "GroupNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("groups", &GroupNormalizationConfig::groups),
                 field("axis", &GroupNormalizationConfig::axis), fields_of<ScaleAndCenterFields>(),
                 fields_of<BetaAndGammaFields>());
};

// Normalizes each group of channels of each sample separately, then scales channel by channel.
class KERATIN_API GroupNormalizationLayer final
    : public LayerOf<GroupNormalizationLayer, GroupNormalizationConfig> {
 public:
  GroupNormalizationLayer(GroupNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // The input keeps its precision; only the result is cast to the layer's dtype.
  bool autocasts() const override { return false; }

 private:
  Variable gamma_, beta_;
};

using GroupNormalization = Shared<GroupNormalizationLayer>;

struct KERATIN_API RMSNormalizationConfig {
  Sizes axis = -1;
  double epsilon = 1e-6;

  static constexpr std::string_view keras_name = "RMSNormalization";
  static constexpr auto call_arguments = arguments_of_call("x");
  static constexpr auto fields = field_list(field("axis", &RMSNormalizationConfig::axis),
                                            field("epsilon", &RMSNormalizationConfig::epsilon));
};

// x / √(mean of x² over the axes + epsilon) · scale
class KERATIN_API RMSNormalizationLayer final
    : public LayerOf<RMSNormalizationLayer, RMSNormalizationConfig> {
 public:
  RMSNormalizationLayer(RMSNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Dims axes_;  // sorted
  Variable scale_;
};

using RMSNormalization = Shared<RMSNormalizationLayer>;

struct KERATIN_API UnitNormalizationConfig {
  Sizes axis = -1;

  static constexpr std::string_view keras_name = "UnitNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("axis", &UnitNormalizationConfig::axis));
};

// x / ‖x‖ over the axes; zeros stay zeros.
class KERATIN_API UnitNormalizationLayer final
    : public LayerOf<UnitNormalizationLayer, UnitNormalizationConfig> {
 public:
  UnitNormalizationLayer(UnitNormalizationConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
};

using UnitNormalization = Shared<UnitNormalizationLayer>;

}  // namespace keratin
