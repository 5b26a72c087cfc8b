#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "keratin/graph/call.h"

// What layers of categories share.
namespace keratin {

// Refuses a mode that is not among these, in Keras's words.
void check_choice(std::string_view who, std::string_view argument, const std::string& value,
                  std::initializer_list<std::string_view> allowed);

// Indices as a mode says: "int" as they are; "one_hot" 1 at each, in a new axis or in place of a
// last axis of size 1; "multi_hot" 1 at each that is in a sample; "count" how often it is there,
// or the sum of its weights. What is not in [0, depth) is left out.
Value encoded_categories(Value indices, const std::string& mode, int64_t depth, DType dtype,
                         Value count_weights = {});

// A value on the host, where strings are, and a result back where `like` is.
Value on_host(Value x);
Value back_to(Value x, Value like);

}  // namespace keratin
