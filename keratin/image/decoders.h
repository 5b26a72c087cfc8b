#pragma once

#include "keratin/image/decode.h"

// The decoder of each format, and the functions that they share.
namespace keratin::image {

Tensor decode_bmp(files::Bytes bytes, const std::string& file, const DecodeOptions& options);
Tensor decode_gif(files::Bytes bytes, const std::string& file, const DecodeOptions& options);
Tensor decode_jpeg(files::Bytes bytes, const std::string& file, const DecodeOptions& options);
Tensor decode_png(files::Bytes bytes, const std::string& file, const DecodeOptions& options);

// Refuses sizes beyond the limits. Decoders call it before they allocate memory.
void check_size(int64_t width, int64_t height, const std::string& file,
                const DecodeOptions& options);

// Converts RGBA to 1, 3 or 4 channels. gray = 0.299 r + 0.587 g + 0.114 b, rounded.
Tensor from_rgba(const Tensor& rgba, int64_t channels);

}  // namespace keratin::image
