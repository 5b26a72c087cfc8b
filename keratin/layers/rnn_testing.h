#pragma once

#include "keratin/layers/bidirectional.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

// What the tests of recurrent layers share.
namespace keratin::testing {

// What a stateful layer keeps from call to call.
inline std::vector<Variable> states_of(const Layer& layer) {
  if (const auto* both = dynamic_cast<const BidirectionalLayer*>(&layer)) return both->states();
  return dynamic_cast<const RecurrentLayer&>(layer).states();
}

}  // namespace keratin::testing
