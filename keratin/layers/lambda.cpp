#include "keratin/layers/lambda.h"

namespace keratin {

LambdaLayer::LambdaLayer(LambdaConfig config, LayerOptions options)
    : Layer("Lambda", std::move(options)), cfg_(std::move(config)) {
  set_built();
}

Json LambdaLayer::own_config() const {
  if (!cfg_.saved.is_null()) return cfg_.saved;
  Json config = Json::object();
  config["function"] = Json::Object{{"module", "keratin"},
                                    {"class_name", "function"},
                                    {"config", name()},
                                    {"registered_name", "function"}};
  if (cfg_.arguments.size() > 0) config["arguments"] = cfg_.arguments;
  return config;
}

LayerPtr LambdaLayer::from_config(const Json& config, const ConfigContext&) {
  LambdaConfig own;
  own.saved = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (!is_option(key)) own.saved[key] = value;
  if (const Json* arguments = config.find("arguments");
      arguments != nullptr && arguments->is_object())
    own.arguments = *arguments;
  return std::make_shared<LambdaLayer>(std::move(own), read_options(config));
}

LayerPtr LambdaLayer::fresh_copy() const { return std::make_shared<LambdaLayer>(cfg_, options()); }

void LambdaLayer::bind(LambdaFunction function, LambdaMask mask) {
  cfg_.function = std::move(function);
  if (mask) cfg_.mask = std::move(mask);
}

Results LambdaLayer::call(const Call& c) const {
  require(static_cast<bool>(cfg_.function), "Lambda '", name(),
          "' has no function: it came from a file, whose code is never run. Bind a C++ function to "
          "it by its name.");
  if (cfg_.arguments.size() == 0) return cfg_.function(c);
  Arguments<Traced> arguments = c.arguments();
  for (const auto& [key, value] : cfg_.arguments.as_object())
    arguments.named.emplace(key, Tree<Traced>(value));
  return cfg_.function(Call(c.tracer(), *this, std::move(arguments), c.training()));
}

Masks LambdaLayer::compute_mask(const Call& c, size_t outputs) const {
  if (!cfg_.mask) return Masks(outputs);
  Masks masks = cfg_.mask(c);
  require(masks.size() == outputs, "Lambda '", name(), "': expected one mask per output (", outputs,
          "), got ", masks.size());
  return masks;
}

}  // namespace keratin
