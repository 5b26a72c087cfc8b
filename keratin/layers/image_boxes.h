#pragma once

#include <functional>
#include <string>

#include "keratin/ir/value.h"

// Bounding boxes of images, in the formats of keras.utils.bounding_boxes.
namespace keratin::images {

// The sides of boxes in pixels, each f32 [batch, boxes], and their labels.
struct Boxes {
  Value left, top, right, bottom, labels;
};
struct Extent {
  int64_t height = 0, width = 0;
};

// Boxes [batch, boxes, 4] in a format, for images of that size, and back.
Boxes read_boxes(const std::string& format, Extent image, Value boxes, Value labels);
Value write_boxes(const std::string& format, Extent image, const Boxes& boxes);

// Each side times a factor: of width for left and right, of height for top and bottom.
Boxes scaled(const Boxes& boxes, Value width, Value height);
Boxes scaled(const Boxes& boxes, double width, double height);
// Sides moved into [0, width] and [0, height]. Where nothing of a box is left, its label is -1.
Boxes clipped(Boxes boxes, double width, double height);

// A change of boxes: reads those of images of one size, and writes those of another.
std::function<Values(Value, Value)> boxes_by(const std::string& format, Extent from, Extent to,
                                             std::function<Boxes(Boxes)> change);

}  // namespace keratin::images
