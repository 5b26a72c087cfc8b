#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

using MakeLayer = LayerPtr (*)(const Json& config, const ConfigContext& context);

// Makes a layer or model from Keras's envelope {"class_name": …, "config": …}, of Keras's classes,
// the given ones and those that are registered; nothing else is ever made from a file. Keys that a
// layer does not know are ignored with one warning each.
//
// A class that the file says is Keras's is Keras's own, but Lambda and TextVectorization, which may
// hold Python functions, can be replaced. What a name alone stands for, as in .h5 files, is the
// user's layer if there is one, else Keras's. A class that is not known, but has the config
// of a functional model or of a Sequential, is opened as one, with a warning.
KERATIN_API LayerPtr layer_from_json(const Json& envelope, const CustomObjects& custom = {},
                                     Dialect dialect = Dialect::keras3);

// The names of all layers that a file may name, sorted.
KERATIN_API std::vector<std::string_view> layer_names();

namespace detail {

// True for a layer of the user's that has the name of one of Keras's.
KERATIN_API bool has_name_of_keras(const Layer& layer);

}  // namespace detail
}  // namespace keratin
