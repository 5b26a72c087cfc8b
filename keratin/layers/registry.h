#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

using MakeLayer = LayerPtr (*)(const Json& config, const ConfigContext& context);

// Makes a layer or model from Keras's envelope {"class_name": …, "config": …}, of Keras's classes,
// the given ones and those that are registered; nothing else is ever made from a file. Keys that a
// layer does not know are ignored with one warning each.
//
// A class of Keras's is Keras's own, whatever else has its name; but Lambda and TextVectorization,
// which may hold Python functions, can be replaced. A class that is not known, but has the config
// of a functional model or of a Sequential, is opened as one, with a warning.
KERATIN_API LayerPtr layer_from_json(const Json& envelope, const CustomObjects& custom = {},
                                     Dialect dialect = Dialect::keras3);

// The names of all layers that a file may name, sorted.
KERATIN_API std::vector<std::string_view> layer_names();

}  // namespace keratin
