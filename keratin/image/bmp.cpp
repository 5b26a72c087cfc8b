#include <vector>

#include "keratin/base/text.h"
#include "keratin/image/decoders.h"

namespace keratin::image {
namespace {

struct BmpHeader {
  uint32_t pixels_at = 0;
  int64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0;
  uint32_t colours = 0;  // size of the palette
  uint64_t palette_at = 0;
  uint32_t palette_entry = 4;
};

BmpHeader read_bmp_header(files::Bytes bytes, const std::string& file) {
  files::Cursor at(bytes, file, "the header of a BMP", 10);
  BmpHeader header;
  header.pixels_at = at.u32();
  const uint32_t size = at.u32();
  header.palette_at = 14 + uint64_t{size};
  uint32_t compression = 0;
  if (size == 12) {  // the first version of the format
    header.width = at.u16();
    header.height = at.u16();
    at.skip(2);
    header.bits = at.u16();
    header.palette_entry = 3;
  } else {
    at.require(size >= 40 && size <= 1024,
               "expected the header of a BMP to have 12 or 40 to 1024 bytes, got ", size);
    header.width = static_cast<int32_t>(at.u32());
    header.height = static_cast<int32_t>(at.u32());
    at.skip(2);
    header.bits = at.u16();
    compression = at.u32();
    at.skip(12);
    header.colours = at.u32();
  }
  header.top_down = header.height < 0;
  header.height = header.top_down ? -header.height : header.height;
  const bool plain = compression == 0;
  if (compression == 3 &&
      header.bits == 32) {  // channel masks, which must describe the usual order
    files::Cursor masks(bytes, file, "the masks of a BMP", 54);
    const uint32_t red = masks.u32(), green = masks.u32(), blue = masks.u32();
    at.require(red == 0xff0000 && green == 0xff00 && blue == 0xff,
               "expected a BMP whose pixels are blue, green, red, alpha; got other masks");
  } else {
    at.require(plain, "expected an uncompressed BMP, got compression ", compression);
  }
  const uint32_t bits = header.bits;
  at.require(bits == 1 || bits == 4 || bits == 8 || bits == 24 || bits == 32,
             "expected a BMP of 1, 4, 8, 24 or 32 bits per pixel, got ", bits);
  if (bits <= 8 && header.colours == 0) header.colours = 1u << bits;
  return header;
}

struct Colour {
  uint8_t blue, green, red;
};

std::vector<Colour> read_palette(const BmpHeader& header, files::Bytes bytes,
                                 const std::string& file) {
  if (header.bits > 8) return {};
  files::Cursor at(bytes, file, "the colours of a BMP", header.palette_at);
  at.require(header.colours <= 256, "expected a BMP with at most 256 colours in its palette, got ",
             header.colours);
  std::vector<Colour> palette;
  for (uint32_t i = 0; i < header.colours; ++i) {
    const files::Bytes entry = at.take(header.palette_entry);
    const auto channel = [&](size_t c) { return static_cast<uint8_t>(entry[c]); };
    palette.push_back({channel(0), channel(1), channel(2)});
  }
  return palette;
}

// Converts one row of pixels to RGBA.
void read_row(const BmpHeader& header, const std::vector<Colour>& palette, files::Bytes row,
              std::span<uint8_t> out, const std::string& file) {
  const auto byte = [&](uint64_t i) { return static_cast<uint8_t>(row[i]); };
  for (uint64_t x = 0; x < out.size() / 4; ++x) {
    Colour colour{};
    uint8_t alpha = 255;
    if (header.bits <= 8) {
      const uint64_t bit = x * header.bits;
      const auto index = static_cast<size_t>(byte(bit / 8) >> (8 - header.bits - bit % 8)) &
                         ((1u << header.bits) - 1);
      require(index < palette.size(), file, ": a pixel of colour ", index, " of ", palette.size());
      colour = palette[index];
    } else {
      const uint64_t size = header.bits / 8;
      colour = {byte(x * size), byte(x * size + 1), byte(x * size + 2)};
      if (size == 4) alpha = byte(x * size + 3);
    }
    out[4 * x] = colour.red;
    out[4 * x + 1] = colour.green;
    out[4 * x + 2] = colour.blue;
    out[4 * x + 3] = alpha;
  }
}

}  // namespace

Tensor decode_bmp(files::Bytes bytes, const std::string& file, const DecodeOptions& options) {
  const BmpHeader header = read_bmp_header(bytes, file);
  check_size(header.width, header.height, file, options);
  const std::vector<Colour> palette = read_palette(header, bytes, file);
  const auto row_bytes = static_cast<uint64_t>((header.width * header.bits + 31) / 32 * 4);
  files::Cursor at(bytes, file, "the pixels of a BMP", header.pixels_at);
  // All rows must be in the file before memory is allocated for them.
  at.require(at.left() / row_bytes >= static_cast<uint64_t>(header.height),
             "the file ends inside the pixels of a BMP");
  Tensor rgba(DType::u8, {header.height, header.width, 4});
  const auto row_size = static_cast<size_t>(4 * header.width);
  for (int64_t y = 0; y < header.height; ++y) {
    const int64_t to = header.top_down ? y : header.height - 1 - y;
    read_row(header, palette, at.take(row_bytes),
             rgba.data<uint8_t>().subspan(static_cast<size_t>(to) * row_size, row_size), file);
  }
  return from_rgba(rgba, options.channels);
}

}  // namespace keratin::image
