#include "keratin/graph/saved_form.h"

#include "keratin/graph/functional.h"

namespace keratin {

const Layer& detail::saved_model(const Layer& model) {
  if (const auto* runs = dynamic_cast<const RunsAnotherModel*>(&model))
    return detail::saved_model(runs->other_model());
  if (const auto* graph = dynamic_cast<const FunctionalLayer*>(&model))
    for (const LayerPtr& layer : graph->layers())
      if (const auto* runs = dynamic_cast<const RunsAnotherModel*>(layer.get()))
        return detail::saved_model(runs->other_model());
  return model;
}

}  // namespace keratin
