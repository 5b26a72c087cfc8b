#include <array>
#include <csetjmp>
#include <cstdio>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

// jerror.h needs <jpeglib.h> before it.
#include <jerror.h>

#include "keratin/base/text.h"
#include "keratin/image/decoders.h"

namespace keratin::image {
namespace {

// A small file may have many scans, each of which decodes the whole image again.
constexpr int max_scans = 200;

// libjpeg reports errors by a function that must not return. It jumps out of the functions below
// that call setjmp, so these must not have objects with destructors.
struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool truncated = false;

  JpegReader();
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
};

JpegReader& jpeg_reader_of(j_common_ptr info) {
  return *static_cast<JpegReader*>(info->client_data);
}

[[noreturn]] void on_jpeg_error(j_common_ptr info) {
  JpegReader& reader = jpeg_reader_of(info);
  info->err->format_message(info, reader.message.data());
  std::longjmp(reader.jump, 1);
}

void on_jpeg_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) jpeg_reader_of(info).truncated = true;
}

void on_jpeg_progress(j_common_ptr info) {
  if (jpeg_reader_of(info).info.input_scan_number <= max_scans) return;
  info->err->msg_code = JERR_BAD_PROGRESSION;
  on_jpeg_error(info);
}

JpegReader::JpegReader() {
  info.err = jpeg_std_error(&errors);
  errors.error_exit = on_jpeg_error;
  errors.emit_message = on_jpeg_message;
  errors.output_message = [](j_common_ptr) {};
  progress.progress_monitor = on_jpeg_progress;
}

bool read_jpeg_header(JpegReader& reader, files::Bytes bytes) {
  if (setjmp(reader.jump) != 0) return false;
  reader.info.client_data = &reader;
  jpeg_create_decompress(&reader.info);
  reader.info.client_data = &reader;
  reader.info.progress = &reader.progress;
  jpeg_mem_src(&reader.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&reader.info, TRUE);
  return true;
}

bool read_jpeg_pixels(JpegReader& reader, uint8_t* out, size_t row_bytes) {
  if (setjmp(reader.jump) != 0) return false;
  reader.info.dct_method =
      JDCT_IFAST;  // as TensorFlow does, so that pixels are the same as in Keras
  jpeg_start_decompress(&reader.info);
  while (reader.info.output_scanline < reader.info.output_height) {
    JSAMPROW row = out + row_bytes * reader.info.output_scanline;
    jpeg_read_scanlines(&reader.info, &row, 1);
  }
  jpeg_finish_decompress(&reader.info);
  return true;
}

// Converts CMYK to RGBA. Adobe's programs write CMYK inverted.
Tensor from_cmyk(const Tensor& cmyk, bool inverted) {
  Tensor rgba(DType::u8, cmyk.shape());
  const auto from = cmyk.data<uint8_t>();
  const auto to = rgba.data<uint8_t>();
  const auto light = [&](uint8_t ink) { return inverted ? ink : 255u - ink; };
  for (size_t i = 0; i < from.size(); i += 4) {
    for (size_t c = 0; c < 3; ++c)
      to[i + c] = static_cast<uint8_t>(light(from[i + 3]) * light(from[i + c]) / 255);
    to[i + 3] = 255;
  }
  return rgba;
}

Tensor with_alpha(const Tensor& rgb) {
  Tensor rgba(DType::u8, {rgb.shape()[0], rgb.shape()[1], 4});
  const auto from = rgb.data<uint8_t>();
  const auto to = rgba.data<uint8_t>();
  for (size_t i = 0; i < from.size() / 3; ++i) {
    for (size_t c = 0; c < 3; ++c) to[4 * i + c] = from[3 * i + c];
    to[4 * i + 3] = 255;
  }
  return rgba;
}

}  // namespace

Tensor decode_jpeg(files::Bytes bytes, const std::string& file, const DecodeOptions& options) {
  JpegReader reader;
  const auto complaint = [&] { return text(file, ": a damaged JPEG: ", reader.message.data()); };
  if (!read_jpeg_header(reader, bytes)) throw UserError(complaint());
  const int64_t width = reader.info.image_width, height = reader.info.image_height;
  check_size(width, height, file, options);
  const bool cmyk = reader.info.num_components == 4;
  const bool gray = options.channels == 1 && !cmyk;
  reader.info.out_color_space = cmyk ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
  const int64_t channels = cmyk ? 4 : gray ? 1 : 3;
  Tensor pixels = Tensor::zeros(DType::u8, {height, width, channels});
  if (!read_jpeg_pixels(reader, pixels.data<uint8_t>().data(),
                        static_cast<size_t>(width * channels)))
    throw UserError(complaint());
  require(!reader.truncated, file, ": the file ends inside the pixels of a JPEG");
  if (cmyk)
    return from_rgba(from_cmyk(pixels, reader.info.saw_Adobe_marker != 0), options.channels);
  return options.channels == 4 ? with_alpha(pixels) : pixels;
}

}  // namespace keratin::image
