#include "keratin/layers/lambda.h"

#include <algorithm>
#include <mutex>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/lambda_operations.h"

namespace keratin {

struct LambdaLayer::Calls {
  std::mutex mutex;
  std::vector<TracedInputs> seen;  // without repetitions
  bool more = false;               // true if a call had arguments that a model cannot hold
  bool settled = false;            // true if `form` belongs to `seen`
  std::shared_ptr<const Layer> form;
};

LambdaLayer::LambdaLayer(LambdaConfig config, LayerOptions options)
    : Layer("Lambda", std::move(options)),
      cfg_(std::move(config)),
      calls_(std::make_unique<Calls>()) {
  set_built();
}
LambdaLayer::~LambdaLayer() = default;

void LambdaLayer::remember(const Call& c) const {
  const Arguments<Traced>& arguments = c.arguments();
  const TracedInputs inputs = arguments.positional[0].map<TracedInput>([](const Traced& t) {
    const auto anywhere = [](Value v) { return Type{v.dtype(), v.shape()}; };
    return TracedInput{anywhere(t.value), t.mask ? std::optional(anywhere(*t.mask)) : std::nullopt};
  });
  const auto same = [&](const TracedInputs& other) {
    return other.outline() == inputs.outline() && other.flat() == inputs.flat();
  };
  const std::lock_guard lock(calls_->mutex);
  if (!arguments.named.empty() || arguments.positional.size() > 1) {
    calls_->more = true;
    calls_->settled = false;
  } else if (std::none_of(calls_->seen.begin(), calls_->seen.end(), same)) {
    calls_->seen.push_back(inputs);
    calls_->settled = false;
  }
}

std::shared_ptr<const Layer> LambdaLayer::saved_form() const {
  if (!cfg_.saved.is_null()) return nullptr;  // the config from the file is kept
  const std::lock_guard lock(calls_->mutex);
  if (calls_->settled) return calls_->form;
  calls_->settled = true;
  calls_->form = nullptr;
  try {
    require(!calls_->more, "it is called with more than its input");
    calls_->form = as_operations(*this, calls_->seen);
  } catch (const UserError& error) {
    warn(text("Lambda layer '", name(), "' is saved by its name alone: ", error.what(),
              ". To load the file, bind a C++ function to that name (LoadOptions::lambdas); Python "
              "cannot open it."));
  }
  return calls_->form;
}

Json LambdaLayer::get_config() const {
  if (cfg_.saved.is_null()) return Layer::get_config();
  Json config = cfg_.saved;
  config["name"] = name();
  config["trainable"] = trainable();
  return config;
}

Json LambdaLayer::own_config() const {
  Json config = Json::object();
  config["function"] = Json::Object{{"module", "keratin"},
                                    {"class_name", "function"},
                                    {"config", name()},
                                    {"registered_name", "function"}};
  if (cfg_.arguments.size() > 0) config["arguments"] = cfg_.arguments;
  return config;
}

LayerPtr LambdaLayer::from_config(const Json& config, const ConfigContext& context) {
  LambdaConfig own;
  own.saved = config;
  if (const Json* arguments = config.find("arguments");
      arguments != nullptr && arguments->is_object())
    own.arguments = *arguments;
  return std::make_shared<LambdaLayer>(std::move(own), detail::read_options(config, context));
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
  if (c.tracer().warns) remember(c);
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
