#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/image/decoders.h"

namespace keratin::image {
namespace {

// libpng reports errors by jumping out of the functions below that call setjmp, so these must not
// have objects with destructors.
struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  files::Bytes left = {};
  std::string message = {};
  uint32_t width = 0, height = 0;

  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  static_cast<PngReader*>(png_get_error_ptr(png))->message = message;
  png_longjmp(png, 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void on_png_read(png_structp png, png_bytep out, size_t size) {
  auto& left = static_cast<PngReader*>(png_get_io_ptr(png))->left;
  if (size > left.size()) png_error(png, "the file ends too early");
  std::copy_n(reinterpret_cast<const uint8_t*>(left.data()), size, out);
  left = left.subspan(size);
}

bool read_png_header(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, on_png_read);
  png_set_chunk_malloc_max(reader.png, 1u << 24);  // limits chunks other than pixels
  png_set_chunk_cache_max(reader.png, 128);
  png_read_info(reader.png, reader.info);
  reader.width = png_get_image_width(reader.png, reader.info);
  reader.height = png_get_image_height(reader.png, reader.info);
  return true;
}

// Makes libpng convert pixels to eight bits and `channels` channels. False if libpng cannot.
bool set_conversion(PngReader& reader, int64_t channels) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  const png_byte kind = png_get_color_type(reader.png, reader.info);
  const bool coloured = (kind & PNG_COLOR_MASK_COLOR) != 0;
  const bool opaque = (kind & PNG_COLOR_MASK_ALPHA) == 0 &&
                      png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) == 0;
  if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if (!coloured) png_set_expand_gray_1_2_4_to_8(reader.png);
  if (!opaque) png_set_tRNS_to_alpha(reader.png);
  png_set_strip_16(reader.png);
  if (channels == 1 && coloured) png_set_rgb_to_gray_fixed(reader.png, 1, 29900, 58700);
  if (channels != 1 && !coloured) png_set_gray_to_rgb(reader.png);
  if (channels != 4) png_set_strip_alpha(reader.png);
  if (channels == 4 && opaque) png_set_add_alpha(reader.png, 255, PNG_FILLER_AFTER);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_png_pixels(PngReader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

}  // namespace

Tensor decode_png(files::Bytes bytes, const std::string& file, const DecodeOptions& options) {
  PngReader reader{.left = bytes};
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_png_error, on_png_warning);
  ensure(reader.png != nullptr, "libpng cannot start");
  reader.info = png_create_info_struct(reader.png);
  ensure(reader.info != nullptr, "libpng cannot start");
  const auto complaint = [&] { return text(file, ": a damaged PNG: ", reader.message); };
  if (!read_png_header(reader)) throw UserError(complaint());
  check_size(reader.width, reader.height, file, options);
  if (!set_conversion(reader, options.channels)) throw UserError(complaint());
  const size_t row_bytes = size_t{reader.width} * static_cast<size_t>(options.channels);
  ensure(png_get_rowbytes(reader.png, reader.info) == row_bytes, "png: expected rows of ",
         row_bytes, " bytes from libpng");
  Tensor pixels = Tensor::zeros(DType::u8, {reader.height, reader.width, options.channels});
  std::vector<png_bytep> rows;
  for (size_t y = 0; y < reader.height; ++y)
    rows.push_back(pixels.data<uint8_t>().data() + y * row_bytes);
  if (!read_png_pixels(reader, rows.data())) throw UserError(complaint());
  return pixels;
}

}  // namespace keratin::image
