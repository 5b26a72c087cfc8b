#pragma once

#include <mutex>

#include "keratin/graph/config.h"
#include "keratin/graph/saved_form.h"

// Layers that Keras 2 adds to functional models for `model.add_loss` and `model.add_metric`.
namespace keratin {

struct AddLossConfig {
  bool unconditional = false;  // has no effect: the loss is that of the call

  static constexpr std::string_view keras_name = "AddLoss";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("unconditional", &AddLossConfig::unconditional));
};

// Adds its input to the losses, summed, and returns it. Of a list [x, loss] it returns x: so a loss
// that no output needs is computed with the output x, see io/keras2_add_loss.h.
//
// Keras 3 has no such layer. Files hold a model of an ActivityRegularization whose penalty is
// |loss|, which is the loss unless that is negative.
class AddLossLayer final : public LayerOf<AddLossLayer, AddLossConfig>, public HasSavedForm {
 public:
  AddLossLayer(AddLossConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool autocasts() const override { return false; }

  // Null, with a warning, if the layer was never called.
  std::shared_ptr<const Layer> saved_form() const override;

 private:
  mutable std::mutex lock_;
  mutable std::vector<Type> inputs_;  // of the last call
  mutable std::shared_ptr<const Layer> form_;
};

struct AddMetricConfig {
  Json aggregation = {};
  Json metric_name = {};

  static constexpr std::string_view keras_name = "AddMetric";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("aggregation", &AddMetricConfig::aggregation),
                                            field("metric_name", &AddMetricConfig::metric_name));
};

// Returns its input. The metric is not reported, which a warning says: like Keras 3, Keratin has
// metrics of outputs. Files hold an Identity.
class AddMetricLayer final : public LayerOf<AddMetricLayer, AddMetricConfig>, public HasSavedForm {
 public:
  AddMetricLayer(AddMetricConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  std::shared_ptr<const Layer> saved_form() const override { return form_; }

 private:
  std::shared_ptr<const Layer> form_;
};

}  // namespace keratin
