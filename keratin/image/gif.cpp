#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/image/decoders.h"

namespace keratin::image {
namespace {

using files::Bytes;
using files::Cursor;

struct Frame {
  int64_t left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
  Bytes colours = {};  // three bytes each
  std::optional<uint8_t> transparent = {};
  uint8_t code_bits = 0;
  std::vector<Bytes> blocks = {};  // of compressed pixels
};

Bytes colour_table(Cursor& at, uint8_t flags) {
  return (flags & 0x80) != 0 ? at.take(uint64_t{3} << ((flags & 7) + 1)) : Bytes{};
}

std::vector<Bytes> sub_blocks(Cursor& at) {
  std::vector<Bytes> blocks;
  while (const uint8_t size = at.u8()) blocks.push_back(at.take(size));
  return blocks;
}

// Reads the next frame, or nothing at the end. Frames without colours use the `global` ones.
std::optional<Frame> next_frame(Cursor& at, Bytes global) {
  Frame frame;
  for (;;) {
    const uint8_t kind = at.u8();
    if (kind == 0x3b) return std::nullopt;
    if (kind == 0x21) {
      const bool control = at.u8() == 0xf9;
      const std::vector<Bytes> blocks = sub_blocks(at);
      if (control && !blocks.empty() && blocks[0].size() >= 4) {
        const bool has = (static_cast<uint8_t>(blocks[0][0]) & 1) != 0;
        frame.transparent = has ? std::optional(static_cast<uint8_t>(blocks[0][3])) : std::nullopt;
      }
      continue;
    }
    at.require(kind == 0x2c, "expected a frame or an extension of a GIF, got the block ",
               static_cast<int>(kind));
    frame.left = at.u16();
    frame.top = at.u16();
    frame.width = at.u16();
    frame.height = at.u16();
    const uint8_t flags = at.u8();
    frame.interlaced = (flags & 0x40) != 0;
    frame.colours = (flags & 0x80) != 0 ? colour_table(at, flags) : global;
    frame.code_bits = at.u8();
    frame.blocks = sub_blocks(at);
    return frame;
  }
}

// Reads codes of growing width, beginning with the lowest bit of the first byte.
class CodeReader {
 public:
  explicit CodeReader(const std::vector<Bytes>& blocks) : blocks_(blocks) {}
  std::optional<uint32_t> next(uint32_t width) {
    while (held_ < width) {
      if (block_ == blocks_.size()) return std::nullopt;
      bits_ |= static_cast<uint32_t>(blocks_[block_][byte_]) << held_;
      held_ += 8;
      if (++byte_ == blocks_[block_].size()) {
        byte_ = 0;
        ++block_;
      }
    }
    const uint32_t code = bits_ & ((1u << width) - 1);
    bits_ >>= width;
    held_ -= width;
    return code;
  }

 private:
  const std::vector<Bytes>& blocks_;
  size_t block_ = 0, byte_ = 0;
  uint32_t bits_ = 0, held_ = 0;
};

// The Lempel-Ziv-Welch decoder: a code stands for an earlier string and one more byte.
class Lzw {
 public:
  Lzw(const Frame& frame, const std::string& file)
      : codes_(frame.blocks), file_(file), clear_(1u << frame.code_bits), bits_(frame.code_bits) {}

  // Decodes `count` pixels; an error if there are fewer.
  std::vector<uint8_t> decode(size_t count) {
    std::vector<uint8_t> out;
    start();
    while (out.size() < count) {
      const auto code = codes_.next(width_);
      require(code.has_value(), file_, ": the file ends inside the pixels of a GIF");
      if (*code == clear_)
        start();
      else if (*code == clear_ + 1)
        fail(file_, ": the pixels of a GIF end before the image is complete");
      else
        emit(*code, out, count);
    }
    return out;
  }

 private:
  void start() {
    width_ = bits_ + 1;
    next_ = clear_ + 2;
    previous_.reset();
  }

  void emit(uint32_t code, std::vector<uint8_t>& out, size_t count) {
    require(code < next_ || (code == next_ && previous_), file_,
            ": the pixels of a GIF are damaged");
    // A code that is not defined yet stands for the previous string and that string's first byte.
    size_t length = 0;
    uint32_t at = code;
    if (code == next_) {
      at = *previous_;
      length = 1;
    }
    for (; at >= clear_; at = prefix_[at]) string_[length++] = last_[at];
    const auto first = static_cast<uint8_t>(at);
    string_[length++] = first;
    if (code == next_) string_[0] = first;
    while (length > 0 && out.size() < count) out.push_back(string_[--length]);
    if (previous_ && next_ < 4096) {
      prefix_[next_] = static_cast<uint16_t>(*previous_);
      last_[next_++] = first;
      if (next_ == 1u << width_ && width_ < 12) ++width_;
    }
    previous_ = code;
  }

  CodeReader codes_;
  const std::string& file_;
  uint32_t clear_, bits_, width_ = 0, next_ = 0;
  std::optional<uint32_t> previous_;
  std::array<uint16_t, 4096> prefix_{};
  std::array<uint8_t, 4096> last_{};
  std::array<uint8_t, 4098> string_{};  // the string of a code, in reverse order
};

// The image row of each stored row. Interlaced rows are stored in four passes.
std::vector<int64_t> row_order(const Frame& frame) {
  std::vector<int64_t> rows;
  constexpr std::array<std::pair<int64_t, int64_t>, 4> passes{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  if (!frame.interlaced)
    for (int64_t y = 0; y < frame.height; ++y) rows.push_back(y);
  else
    for (const auto& [first, step] : passes)
      for (int64_t y = first; y < frame.height; y += step) rows.push_back(y);
  return rows;
}

// Draws a frame. Transparent pixels and pixels outside of the frame stay black.
void paint(const Frame& frame, const std::vector<uint8_t>& indices, const Tensor& rgba,
           const std::string& file) {
  const int64_t height = rgba.shape()[0], width = rgba.shape()[1];
  const auto out = rgba.data<uint8_t>();
  size_t next = 0;
  for (const int64_t row : row_order(frame))
    for (int64_t x = 0; x < frame.width; ++x) {
      const uint8_t index = indices[next++];
      require(size_t{3} * index < frame.colours.size(), file, ": a pixel of colour ",
              static_cast<int>(index), " of ", frame.colours.size() / 3);
      const int64_t to_x = frame.left + x, to_y = frame.top + row;
      if (to_x >= width || to_y >= height || index == frame.transparent) continue;
      const auto to = static_cast<size_t>(4 * (to_y * width + to_x));
      for (size_t c = 0; c < 3; ++c)
        out[to + c] = static_cast<uint8_t>(frame.colours[size_t{3} * index + c]);
      out[to + 3] = 255;
    }
}

}  // namespace

// The image is as large as the largest frame, as in TensorFlow; the logical screen's size is
// ignored.
Tensor decode_gif(Bytes bytes, const std::string& file, const DecodeOptions& options) {
  Cursor at(bytes, file, "a GIF", 10);
  const uint8_t flags = at.u8();
  at.skip(2);
  const Bytes global = colour_table(at, flags);
  const std::optional<Frame> first = next_frame(at, global);
  require(first.has_value(), file, ": a GIF without a frame");
  require(!first->colours.empty(), file, ": a GIF without colours");
  require(first->code_bits >= 1 && first->code_bits <= 8, file, ": a GIF whose codes have ",
          static_cast<int>(first->code_bits), " bits");
  int64_t width = first->width, height = first->height;
  check_size(width, height, file, options);
  for (std::optional<Frame> more; (more = next_frame(at, global));) {
    width = std::max(width, more->width);
    height = std::max(height, more->height);
  }
  check_size(width, height, file, options);
  const std::vector<uint8_t> indices =
      Lzw(*first, file).decode(static_cast<size_t>(first->width * first->height));
  Tensor rgba = Tensor::zeros(DType::u8, {height, width, 4});
  paint(*first, indices, rgba, file);
  return from_rgba(rgba, options.channels);
}

}  // namespace keratin::image
