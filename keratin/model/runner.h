#pragma once

#include <functional>

#include "keratin/graph/layer.h"

namespace keratin {

// What runs in the place of a model's layer: itself, or one that runs it on several devices. The
// folder distribute, which knows how, says so here, for the models that are made from now on.
using Runner = std::function<LayerPtr(const LayerPtr& layer)>;
void set_runner(Runner runner);  // nothing: layers run themselves

// To be called when a model is made of a layer; then what runs it can be asked for at any time.
void settle_runner(const LayerPtr& layer);
LayerPtr runner_of(const LayerPtr& layer);

}  // namespace keratin
