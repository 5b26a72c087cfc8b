#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

using MakeLayer = LayerPtr (*)(const Json& config, const ConfigContext& context);

// The user's classes that a file may name. They take precedence over Keras's classes; nothing else
// is ever made from a file.
using CustomLayers =
    std::map<std::string, std::function<LayerPtr(const Json&, const ConfigContext&)>, std::less<>>;

// Makes a layer or model from Keras's envelope {"class_name": …, "config": …}. Keys that a layer
// does not know are ignored with one warning each.
KERATIN_API LayerPtr layer_from_json(const Json& envelope, const CustomLayers& custom = {},
                                     Dialect dialect = Dialect::keras3,
                                     const CustomParts& parts = {});

// The names of all layers that a file may name, sorted.
KERATIN_API std::vector<std::string_view> layer_names();

}  // namespace keratin
