#pragma once

#include "keratin/graph/call.h"

namespace keratin {

// x[index] in Python. The index is an integer, a slice {"class_name": "__slice__"}, an
// ellipsis {"class_name": "__ellipsis__"}, null (a new axis), or a list of such.
Value get_item(Value x, const Tree<Traced>& index);

}  // namespace keratin
