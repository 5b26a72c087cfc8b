#include "keratin/graph/keras2_activation.h"

namespace keratin {
namespace {

using O = Json::Object;

Json envelope(const char* module, const char* class_name, Json config) {
  return O{{"module", module},
           {"class_name", class_name},
           {"config", std::move(config)},
           {"registered_name", nullptr}};
}

}  // namespace

Json keras2_hard_sigmoid_json() {
  const Json slope = O{{"name", "slope"}, {"scale", 0.2}, {"offset", 0.5}};
  const Json range = O{{"name", "range"}, {"max_value", 1.0}};
  return envelope("keras", "Sequential",
                  O{{"name", keras2_hard_sigmoid},
                    {"layers", Json::Array{envelope("keras.layers", "Rescaling", slope),
                                           envelope("keras.layers", "ReLU", range)}}});
}

bool is_keras2_hard_sigmoid(const Json& activation) {
  if (!activation.is_object()) return false;
  const Json *kind = activation.find("class_name"), *config = activation.find("config");
  const Json* name = config != nullptr && config->is_object() ? config->find("name") : nullptr;
  return kind != nullptr && *kind == Json("Sequential") && name != nullptr &&
         *name == Json(keras2_hard_sigmoid);
}

}  // namespace keratin
