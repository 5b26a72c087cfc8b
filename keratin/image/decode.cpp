#include "keratin/image/decode.h"

#include "keratin/base/text.h"
#include "keratin/image/decoders.h"

namespace keratin::image {
namespace {

using Decoder = Tensor (*)(files::Bytes, const std::string&, const DecodeOptions&);

struct Format {
  std::string_view first_bytes;
  Decoder decoder;
};

constexpr Format formats[] = {
    {"\xff\xd8\xff", decode_jpeg},
    {"\x89PNG\r\n\x1a\n", decode_png},
    {"GIF87a", decode_gif},
    {"GIF89a", decode_gif},
    {"BM", decode_bmp},
};

}  // namespace

Tensor decode(files::Bytes bytes, const std::string& file, const DecodeOptions& options) {
  require(options.channels == 1 || options.channels == 3 || options.channels == 4,
          "image: expected 1, 3 or 4 channels, got ", options.channels);
  for (const Format& format : formats)
    if (files::as_text(bytes).starts_with(format.first_bytes))
      return format.decoder(bytes, file, options);
  fail(file, ": expected a JPEG, PNG, GIF or BMP, got ",
       bytes.empty() ? "an empty file" : "a file that does not begin like any of them");
}

void check_size(int64_t width, int64_t height, const std::string& file,
                const DecodeOptions& options) {
  require(width > 0 && height > 0, file, ": the image has no pixels: ", width, " x ", height);
  require(width <= options.max_side && height <= options.max_side &&
              width <= options.max_pixels / height,
          file, ": the image is too large: expected sides of at most ", options.max_side,
          " and at most ", options.max_pixels, " pixels, got ", width, " x ", height);
}

Tensor from_rgba(const Tensor& rgba, int64_t channels) {
  if (channels == 4) return rgba;
  const int64_t height = rgba.shape()[0], width = rgba.shape()[1];
  Tensor out(DType::u8, {height, width, channels});
  const auto from = rgba.data<uint8_t>();
  const auto to = out.data<uint8_t>();
  const auto pixels = static_cast<size_t>(height * width);
  for (size_t i = 0; i < pixels; ++i) {
    const uint8_t* p = &from[4 * i];
    if (channels == 3)
      for (size_t c = 0; c < 3; ++c) to[3 * i + c] = p[c];
    else
      to[i] = static_cast<uint8_t>((299u * p[0] + 587u * p[1] + 114u * p[2] + 500) / 1000);
  }
  return out;
}

}  // namespace keratin::image
