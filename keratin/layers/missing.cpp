#include "keratin/layers/missing.h"

#include "keratin/base/text.h"

namespace keratin {

std::string missing_layer_message(std::string_view class_name, const std::string& layer) {
  return text(layer.empty() ? "The file has a layer" : "Layer '" + layer + "' is",
              " of the class '", class_name,
              "' of Keras, which Keratin does not have yet. A layer of yours can take its place: "
              "load_model(path, {.custom_objects = {{\"",
              class_name, "\", YourLayer::from_config}}}).");
}

}  // namespace keratin
