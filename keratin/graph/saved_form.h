#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/layer.h"

namespace keratin {

// A layer that is saved as another one: Python has no C++ functions, but it has models of
// operations.
class KERATIN_API HasSavedForm {
 public:
  virtual ~HasSavedForm() = default;
  // The other layer, of the same name; nullptr if the layer is saved as it is.
  virtual std::shared_ptr<const Layer> saved_form() const = 0;
  // The arguments of the other layer's call, for a call of this one.
  virtual Arguments<SymbolicTensor> saved_arguments(const Arguments<SymbolicTensor>& given) const {
    return given;
  }
};

namespace detail {

inline std::shared_ptr<const Layer> saved_form(const Layer& layer) {
  const auto* other = dynamic_cast<const HasSavedForm*>(&layer);
  return other == nullptr ? nullptr : other->saved_form();
}

// The arguments of a call as files have them.
inline Arguments<SymbolicTensor> saved_arguments(const Layer& layer,
                                                 const Arguments<SymbolicTensor>& given) {
  const auto* other = dynamic_cast<const HasSavedForm*>(&layer);
  return other == nullptr || other->saved_form() == nullptr ? given : other->saved_arguments(given);
}

}  // namespace detail

// A layer that holds its weights in another form than files do.
class KERATIN_API HasSavedWeights {
 public:
  virtual ~HasSavedWeights() = default;
  // The weights that files have, in their order, and the value of each there.
  virtual std::vector<Variable> saved_weights() const = 0;
  virtual Tensor saved_value(const Variable& weight) const = 0;
  // The weights that become zeros when the others are read.
  virtual std::vector<Variable> unsaved_weights() const = 0;
};

// A layer whose model runs another model: files have that other model only.
class KERATIN_API RunsAnotherModel {
 public:
  virtual ~RunsAnotherModel() = default;
  virtual const Layer& other_model() const = 0;
};

namespace detail {

// The model that files have: the given one, or the one that it runs.
KERATIN_API const Layer& saved_model(const Layer& model);

}  // namespace detail

}  // namespace keratin
