#pragma once

#include "keratin/graph/config.h"
#include "keratin/ir/node.h"

// What layers of images share: ranges of pixels, random numbers, boxes.
namespace keratin::image {

// The two ends of a factor or a range that was checked.
inline double low(const Numbers& ends) { return ends.values()[0]; }
inline double high(const Numbers& ends) { return ends.values()[1]; }

// x with the values of one range moved to another, in a dtype; x itself if they are the same.
Value to_range(Value x, const Numbers& from, const Numbers& to, DType dtype);
Value clip(Value x, const Numbers& range);
const Numbers& levels();  // {0, 255}

// Random numbers for a call, drawn from a seed.
class Draws {
 public:
  Draws(const Call& c, const Variable& seed) : call_(&c), seed_(&seed) {}

  // Between low and high: f32, or another dtype. Sizes may be unknown.
  Value uniform(const Shape& shape, double low, double high, DType dtype = DType::f32) const;
  Value uniform(const Shape& shape, const Numbers& ends, DType dtype = DType::f32) const {
    return uniform(shape, low(ends), high(ends), dtype);
  }
  // In [low, high).
  Value whole(const Shape& shape, int64_t low, int64_t high) const;
  Value normal(const Shape& shape, DType dtype) const;
  // For each image true with a probability, which is between two numbers itself.
  Value happens(Value images, const Numbers& probability) const;
  // The logarithms of numbers from the distribution gamma(alpha, 1): f32[count]. Numbers of a small
  // alpha are too small for floats. `alpha` is one f32.
  Value log_gamma(int64_t count, Value alpha) const;
  // From the distribution beta(alpha, alpha): f32[count].
  Value beta(int64_t count, Value alpha) const;
  // The positions of the images in random order.
  Value order(Value images) const;

 private:
  Value key(DType dtype, const Shape& shape) const;

  const Call* call_;
  const Variable* seed_;
};

// Whether the images of a call are a batch.
bool is_batch(const Call& c);
// [batch] and [batch, 1, 1, 1]: a number for each image.
inline Shape per_image(Value images) { return {images.shape()[0]}; }
inline Shape on_images(Value images) { return {images.shape()[0], 1, 1, 1}; }
// [batch] to [batch, 1, …], of that rank
Value aligned(Value x, int64_t rank = 4);

// A number of the given name.
Value drawn_value(const Results& drawn, std::string_view name);

// Where height, width and channels are.
struct Axes {
  int64_t height, width, channels;
};
Axes axes_of(const std::string& data_format);

// A box in each image: the first positions inside and the first ones behind it, each [batch].
struct Boxes {
  Value left, right, top, bottom;
};
// Boxes that have these shares of the sides, at random positions.
Boxes random_boxes(const Draws& draws, Value images, Value width_share, Value height_share,
                   const Axes& axes, DType dtype);
// True inside of the boxes, in the shape of the images.
Value inside(Value images, const Boxes& boxes, const Axes& axes, DType dtype);
// The size of an axis, or 1 while only shapes are inferred.
double length(Value images, int64_t axis);

}  // namespace keratin::image
