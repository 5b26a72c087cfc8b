#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

namespace keratin::losses {

// Pulls embeddings of one class together and pushes those of other classes apart. Predictions are
// unit vectors [batch, features], and y_true is the class of each. Samples without loss do not
// count: those without others to compare with, or whose distances are good already.
struct KERATIN_API Circle {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;  // a sample is not compared with itself

  static constexpr std::string_view keras_name = "Circle";
  static constexpr auto fields =
      field_list(field("gamma", &Circle::gamma), field("margin", &Circle::margin),
                 field("remove_diagonal", &Circle::remove_diagonal));
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses
