#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

namespace keratin::losses {

// -log of the probability that scores [batch, time, classes] spell the labels [batch, length], over
// all alignments in time (connectionist temporal classification). Class 0 is the blank, and pads
// labels.
struct KERATIN_API CTC {
  static constexpr std::string_view keras_name = "CTC";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses
