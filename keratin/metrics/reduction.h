#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// Sums and means of values.
namespace keratin::metrics {

struct KERATIN_API MeanConfig {
  static constexpr std::string_view keras_name = "Mean";
  static constexpr auto fields = field_list();
};
struct KERATIN_API SumConfig {
  static constexpr std::string_view keras_name = "Sum";
  static constexpr auto fields = field_list();
};

class KERATIN_API MeanMetric final : public MetricOf<MeanMetric, MeanConfig, MeanState> {
 public:
  MeanMetric(MeanConfig config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
};

class KERATIN_API SumMetric final : public MetricOf<SumMetric, SumConfig> {
 public:
  SumMetric(SumConfig config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  Variable total_;
};

// A metric of values alone: update_state(values, sample_weight).
template <class M>
class KERATIN_API OfValues : public SharedMetric<M> {
 public:
  OfValues() = default;
  explicit OfValues(MetricOptions options) : SharedMetric<M>({}, std::move(options)) {}
  OfValues(typename M::ConfigType config, MetricOptions options)
      : SharedMetric<M>(config, std::move(options)) {}
  void update_state(const Tensor& values, const std::optional<Tensor>& sample_weight = {}) const {
    this->state().update_with({{}, values, sample_weight});
  }
  Tensor operator()(const Tensor& values, const std::optional<Tensor>& sample_weight = {}) const {
    update_state(values, sample_weight);
    return this->result();
  }
};

using Mean = OfValues<MeanMetric>;
using Sum = OfValues<SumMetric>;

// The mean of any function. `config` is Keras's config of a function that it knows by name.
class KERATIN_API MeanOfFunction final : public MeanState {
 public:
  using Function = std::function<LossTerms(Value y_true, Value y_pred)>;
  MeanOfFunction(Function function, MetricOptions options, Json config = {},
                 Direction direction = Direction::none);

  std::string_view class_name() const override {
    return config_.is_null() ? "" : "MeanMetricWrapper";
  }
  Json own_config() const override { return config_; }
  std::shared_ptr<MetricState> fresh_copy() const override;
  void update(Tracer& tracer, const Sample& sample) override;
  Direction direction() const override { return direction_; }

 private:
  Function function_;
  Json config_;
  Direction direction_;
};

class KERATIN_API MeanMetricWrapper : public Metric {
 public:
  explicit MeanMetricWrapper(MeanOfFunction::Function function, MetricOptions options = {},
                             Json config = {}, Direction direction = Direction::none);
};

}  // namespace keratin::metrics
