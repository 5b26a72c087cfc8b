#pragma once

#include "keratin/files/bytes.h"
#include "keratin/tensor/tensor.h"

// Decodes images to tensors. The format follows from the first bytes of a file, never from its
// name. Any bytes give an image or a UserError that begins with the name of the file.
namespace keratin::image {

struct DecodeOptions {
  int64_t channels = 3;  // 1: gray; 3: red, green and blue; 4: with alpha
  // Larger images are refused: few bytes may claim to be a huge image.
  int64_t max_side = int64_t{1} << 16;
  int64_t max_pixels = int64_t{1} << 28;
};

// Decodes a JPEG, PNG, BMP, or the first frame of a GIF, to u8 [height, width, channels].
Tensor decode(files::Bytes bytes, const std::string& file, const DecodeOptions& options = {});

}  // namespace keratin::image
