#pragma once

#include "keratin/model/model.h"

namespace keratin {

// The C++ of user_parts.py, registered under the same names.
void register_user_parts();

// Compiled models of them.
Model user_parts_model();
Model user_sequences_model();

}  // namespace keratin
