#include "keratin/model/predict_layer.h"

#include "keratin/base/text.h"

namespace keratin {
namespace {

// Runs `predict_step` in place of the model's call.
class PredictLayer final : public Layer, public CallsLayers {
 public:
  explicit PredictLayer(Trainer& trainer)
      : Layer("Predict", {.name = trainer.model()->name()}), trainer_(trainer) {
    add_sublayer("model", trainer.model());
  }
  std::string_view class_name() const override { return "Predict"; }
  LayerPtr fresh_copy() const override { fail("layer '", name(), "' cannot be copied"); }
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }

  Results call(const Call& c) const override {
    return call_layers(c, c).map<Value>([](const Traced& t) { return t.value; });
  }
  Tree<Traced> call_layers(const Call& call, const Call&) const override {
    return trainer_.write_predict(
        call.tracer(), call.argument(0).map<Value>([](const Traced& t) { return t.value; }));
  }

 private:
  Trainer& trainer_;
};

}  // namespace

std::shared_ptr<ProgramCache> predict_step_programs(Trainer& trainer) {
  return std::make_shared<ProgramCache>(
      [&trainer]() -> LayerPtr { return std::make_shared<PredictLayer>(trainer); });
}

}  // namespace keratin
