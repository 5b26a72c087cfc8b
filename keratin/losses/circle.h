#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

namespace keratin::losses {

// Pulls embeddings of one class together and pushes those of others away. Predictions are unit
// vectors [batch, features], the truth is the number of a class each. A sample without loss does
// not count: it has no partner, or its partners lie well already.
struct KERATIN_API Circle {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;  // a sample is no partner of itself

  static constexpr std::string_view keras_name = "Circle";
  static constexpr auto fields =
      field_list(field("gamma", &Circle::gamma), field("margin", &Circle::margin),
                 field("remove_diagonal", &Circle::remove_diagonal));
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses
