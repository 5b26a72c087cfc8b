#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API ResizeAttrs {
  Dims size;  // height and width of the result
  std::string method = "bilinear";
  static constexpr auto fields =
      field_list(field("size", &ResizeAttrs::size), field("method", &ResizeAttrs::method));
};

// Images [batch, height, width, channels] in another size, as Keras does without antialiasing: the
// pixel o of the result lies at s = (o + ½) · in / out of the input, whose pixel i spans [i, i +
// 1]. "nearest" takes the pixel floor(s); "bilinear" mixes the two whose centres surround s, and
// stays with the last one at the edges. Channels first is done with transposes.
KERATIN_API Value resize(Value x, ResizeAttrs attrs,
                         const std::string& data_format = "channels_last");

}  // namespace keratin::ops
