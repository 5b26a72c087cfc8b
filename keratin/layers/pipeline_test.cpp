#include "keratin/graph/input.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/registry.h"
#include "keratin/layers/wrappers.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

using enum DType;

Tree<Tensor> call_pipeline(Layer& layer, Tree<MaskedTensor> data, bool training = true) {
  return run_layer(layer, {{std::move(data)}, {}}, {.training = training}).outputs;
}

// Its dtype is always float32, whose finite differences say nothing.
TEST(Pipeline, BehavesAsInKeras) { testing::check_layer("Pipeline", {.gradient = false}); }

TEST(Pipeline, RunsItsLayersInOrder) {
  const Tensor x = Tensor::full(f32, {1, 2, 2, 1}, 100);
  const LayerPtr brighter = RandomBrightness({.factor = {0.2, 0.2}}),
                 inverted = RandomInvert({.factor = {1, 1}});
  const Pipeline a({.layers = {brighter, inverted}}), b({.layers = {inverted, brighter}});
  EXPECT_EQ(call_pipeline(*a, MaskedTensor{x}).leaf(), Tensor::full(f32, {1, 2, 2, 1}, 104));
  EXPECT_EQ(call_pipeline(*b, MaskedTensor{x}).leaf(), Tensor::full(f32, {1, 2, 2, 1}, 206));
  EXPECT_EQ(call_pipeline(*a, MaskedTensor{x}, /*training=*/false).leaf(), x);
  EXPECT_EQ(call_pipeline(*Pipeline(), MaskedTensor{x}).leaf(), x);
}

TEST(Pipeline, OwnsTheWeightsOfItsLayers) {
  const Pipeline pipeline({.layers = {Dense({.units = 3}, "first"), Dense({.units = 2}, "second")}},
                          "both");
  EXPECT_EQ(pipeline(Input({4})).leaf().shape(), Shape({unknown, 2}));
  ASSERT_EQ(pipeline->weights().size(), 4U);
  EXPECT_EQ(pipeline->weights()[2].path(), "both/second/kernel");
  const auto copy = pipeline->fresh_copy();
  copy->ensure_built({{unknown, 4}});
  ASSERT_EQ(copy->weights().size(), 4U);
  EXPECT_FALSE(copy->weights()[0] == pipeline->weights()[0]);
  EXPECT_EQ(copy->get_config(), pipeline->get_config());
  EXPECT_EQ(pipeline->get_config().as_object().size(), 2U);
}

TEST(Pipeline, PassesDictsOn) {
  const Tensor x = Tensor::full(f32, {2, 2, 2, 1}, 55), labels = Tensor::full(f32, {2, 1}, 1);
  const Pipeline pipeline({.layers = {RandomInvert({.factor = {1, 1}}), MixUp()}});
  const Tree<MaskedTensor> data =
      Tree<MaskedTensor>::Dict{{"images", MaskedTensor{x}}, {"labels", MaskedTensor{labels}}};
  const auto out = call_pipeline(*pipeline, data);
  EXPECT_NEAR(out["images"].leaf().at(0), 200, 1e-3);
  EXPECT_NEAR(out["labels"].leaf().at(1), 1, 1e-5);
}

TEST(Pipeline, RefusesConfigsWithoutLayers) {
  const auto from = [](const char* config) {
    layer_from_json(Json::Object{{"class_name", "Pipeline"}, {"config", Json::parse(config)}});
  };
  for (const char* config : {R"({"name": "test"})", R"({"layers": null, "name": "test"})"})
    expect_user_error([&] { from(config); },
                      "`Pipeline` config must contain a `layers` key mapping to a list of "
                      "serialized layers. Received config with layers=None.");
  expect_user_error([&] { from(R"({"layers": 3})"); }, "layers=3");
  expect_user_error([] { Pipeline({.layers = {nullptr}}, "p"); }, "one of its layers is missing");
}

}  // namespace
}  // namespace keratin
