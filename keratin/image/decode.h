#pragma once

#include "keratin/files/bytes.h"
#include "keratin/tensor/tensor.h"

// Pictures as tensors. What a file holds is told by its first bytes, never by its name. Any bytes
// give a picture or a UserError that begins with the name of the file.
namespace keratin::image {

struct DecodeOptions {
  int64_t channels = 3;  // 1 gray, 3 red, green and blue, 4 with opacity
  // A few bytes may claim to be a huge picture; nothing larger is tried.
  int64_t max_side = int64_t{1} << 16;
  int64_t max_pixels = int64_t{1} << 28;
};

// u8 [height, width, channels] of a JPEG, PNG, BMP or GIF (its first frame).
Tensor decode(files::Bytes bytes, const std::string& file, const DecodeOptions& options = {});

}  // namespace keratin::image
