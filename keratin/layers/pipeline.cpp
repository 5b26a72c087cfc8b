#include "keratin/base/text.h"
#include "keratin/graph/build_scope.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/wrappers.h"

namespace keratin {
namespace {

Shapes shapes_of(const Tree<Traced>& data) {
  Shapes shapes;
  data.each([&](const Traced& t) { shapes.push_back(t.value.shape()); });
  return shapes;
}

}  // namespace

PipelineLayer::PipelineLayer(PipelineConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  for (const LayerPtr& layer : cfg.layers) {
    require(layer != nullptr, "Pipeline '", name(), "': one of its layers is missing");
    add_sublayer("layers", layer, /*in_list=*/true);  // the property by which Keras finds them
  }
}

LayerPtr PipelineLayer::from_config(const Json& json, const ConfigContext& context) {
  const Json* layers = json.find("layers");
  require(layers != nullptr && layers->is_array(),
          "`Pipeline` config must contain a `layers` key mapping to a list of serialized layers. "
          "Received config with layers=",
          layers == nullptr || layers->is_null() ? "None" : layers->dump(), ".");
  return LayerOf::from_config(json, context);
}

Json PipelineLayer::get_config() const {
  Json config = own_config();
  config["name"] = name();
  return config;
}

// The layers of a dict are built when they are called, when its keys are known.
void PipelineLayer::build(const Shapes& inputs) {
  if (inputs.size() != 1) return;
  Module module;
  Tracer tracer(module, /*training=*/false);
  Tree<Traced> data = Traced{module.input({compute_dtype(), inputs[0]}, "inputs")};
  for (const LayerPtr& layer : cfg.layers) {
    layer->ensure_built(shapes_of(data));
    if (layer != cfg.layers.back()) data = tracer.invoke(*layer, {{data}, {}});
  }
}

Tree<Traced> PipelineLayer::call_layers(const Call& call, const Call&) const {
  const BuildScope scope(*this);
  Tree<Traced> data = call.argument(0);
  for (const LayerPtr& layer : cfg.layers) {
    layer->ensure_built(shapes_of(data));
    data = call.invoke(*layer, Arguments<Traced>{{data}, {}});
  }
  return data;
}

Results PipelineLayer::call(const Call& c) const {
  return call_layers(c, c).map<Value>([](const Traced& t) { return t.value; });
}

}  // namespace keratin
