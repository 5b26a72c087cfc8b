#include <cmath>
#include <cstdlib>

#include "keratin/image/decode.h"
#include "keratin/image/resize.h"

// Any bytes give an image or a UserError. An image has the requested number of channels, and can be
// resized.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  constexpr int64_t channels[] = {1, 3, 4};
  const image::DecodeOptions options{.channels = channels[size % 3], .max_pixels = 1 << 18};
  Tensor pixels;
  try {
    pixels = image::decode({reinterpret_cast<const std::byte*>(data), size}, "fuzz", options);
  } catch (const UserError&) {
    return 0;
  }
  if (pixels.shape().rank() != 3 || pixels.shape()[2] != options.channels) std::abort();
  const Tensor small = image::resize_with_pad(pixels, 5, 3, size % 2 == 0 ? "area" : "lanczos3");
  for (int64_t i = 0; i < small.count(); ++i)
    if (!std::isfinite(small.at(i))) std::abort();
  return 0;
}
