#pragma once

#include "keratin/graph/named.h"
#include "keratin/losses/loss.h"

namespace keratin {

// The loss Keras calls so, by its class's or its function's name or an alias of it.
Loss loss_by_name(const Named& named);
bool is_loss_name(std::string_view name);

}  // namespace keratin
