#include "keratin/layers/image_boxes.h"

#include <algorithm>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin::images {
namespace {

struct Format {
  std::string_view name;
  bool relative;   // to the size of the image
  bool row_first;  // y stands before x
  bool sizes;      // if not, two corners
  bool centre;     // the middle instead of the first corner
};

constexpr Format formats[] = {
    {"xyxy", false, false, false, false},         {"yxyx", false, true, false, false},
    {"xywh", false, false, true, false},          {"center_xywh", false, false, true, true},
    {"center_yxhw", false, true, true, true},     {"rel_xyxy", true, false, false, false},
    {"rel_yxyx", true, true, false, false},       {"rel_xywh", true, false, true, false},
    {"rel_center_xywh", true, false, true, true},
};

const Format& format_of(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto* found = std::find_if(std::begin(formats), std::end(formats),
                                   [&](const Format& f) { return f.name == name; });
  require(found != std::end(formats),
          "Invalid source or target format. Supported formats: ('xyxy', 'yxyx', 'xywh', "
          "'center_xywh', 'center_yxhw', 'rel_xyxy', 'rel_yxyx', 'rel_xywh', 'rel_center_xywh'), "
          "got '",
          name, "'");
  return *found;
}

}  // namespace

Boxes read_boxes(const std::string& format, Extent image, Value boxes, Value labels) {
  const Format& f = format_of(format);
  const auto part = [&](int64_t i) { return ops::squeeze(ops::slice_axis(boxes, 2, i, i + 1), 2); };
  Value x1 = part(0), y1 = part(1), x2 = part(2), y2 = part(3);
  if (f.row_first) std::swap(x1, y1), std::swap(x2, y2);
  if (f.centre) x1 = x1 - x2 / 2.0, y1 = y1 - y2 / 2.0;
  if (f.sizes) x2 = x1 + x2, y2 = y1 + y2;
  const Boxes all = {x1, y1, x2, y2, labels};
  if (!f.relative) return all;
  return scaled(all, static_cast<double>(image.width), static_cast<double>(image.height));
}

Value write_boxes(const std::string& format, Extent image, const Boxes& boxes) {
  const Format& f = format_of(format);
  Boxes b = boxes;
  if (f.relative)
    b = scaled(b, 1 / static_cast<double>(image.width), 1 / static_cast<double>(image.height));
  Value x2 = b.right, y2 = b.bottom, x1 = b.left, y1 = b.top;
  if (f.sizes) x2 = x2 - x1, y2 = y2 - y1;
  if (f.centre) x1 = x1 + x2 / 2.0, y1 = y1 + y2 / 2.0;
  if (f.row_first) std::swap(x1, y1), std::swap(x2, y2);
  return ops::stack({x1, y1, x2, y2}, 2);
}

Boxes scaled(const Boxes& boxes, Value width, Value height) {
  return {boxes.left * width, boxes.top * height, boxes.right * width, boxes.bottom * height,
          boxes.labels};
}
Boxes scaled(const Boxes& boxes, double width, double height) {
  return scaled(boxes, ops::scalar_like(boxes.left, width), ops::scalar_like(boxes.left, height));
}

Boxes clipped(Boxes b, double width, double height) {
  b.left = ops::clip(b.left, 0, width), b.right = ops::clip(b.right, 0, width);
  b.top = ops::clip(b.top, 0, height), b.bottom = ops::clip(b.bottom, 0, height);
  const Value area = (b.right - b.left) * (b.bottom - b.top);
  b.labels = ops::where(area > 0.0, b.labels, ops::scalar_like(b.labels, -1));
  return b;
}

std::function<Values(Value, Value)> boxes_by(const std::string& format, Extent from, Extent to,
                                             std::function<Boxes(Boxes)> change) {
  return [=, change = std::move(change)](Value boxes, Value labels) -> Values {
    const Boxes changed = change(read_boxes(format, from, boxes, labels));
    return {write_boxes(format, to, changed), changed.labels};
  };
}

}  // namespace keratin::images
