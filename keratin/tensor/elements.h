// The library's own code calls these by their short names; no public header includes this one.
#pragma once

#include "keratin/tensor/dtype.h"

namespace keratin {

using detail::compute_t;
using detail::ComputeOf;
using detail::convert;
using detail::dispatch;
using detail::TypeTag;

}  // namespace keratin
