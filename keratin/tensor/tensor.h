#pragma once

#include <span>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/buffer.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/shape.h"

namespace keratin {

// Data: elements of one dtype in row-major order in host memory. Copies share the buffer.
class KERATIN_API Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);  // contents undefined
  Tensor(DType dtype, Shape shape, Buffer buffer);

  static Tensor zeros(DType dtype, Shape shape);
  static Tensor full(DType dtype, Shape shape, double value);
  // The values converted to the dtype; as many as the shape has elements.
  template <class T>
  static Tensor of(DType dtype, Shape shape, const std::vector<T>& values);
  static Tensor scalar(DType dtype, double value) { return full(dtype, {}, value); }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_.count(); }
  size_t bytes() const { return static_cast<size_t>(count()) * size_of(dtype_); }
  bool defined() const { return buffer_.data() != nullptr; }
  const Buffer& buffer() const { return buffer_; }

  // Waits until a program that works on a device by itself has put its results here. Only what says
  // so gives such tensors.
  const Tensor& wait() const;

  void* raw() const { return buffer_.data(); }
  // The elements; T must be the storage type of the dtype.
  template <class T>
  std::span<T> data() const;

  // One element, by its row-major position, as a double (exact but for large i64).
  double at(int64_t position) const;
  void set(int64_t position, double value);
  template <class T = double>
  std::vector<T> to_vector() const;

  Tensor clone() const;
  Tensor cast(DType dtype) const;
  Tensor reshape(Shape shape) const;  // shares the buffer

  // Same dtype, shape and bits.
  bool operator==(const Tensor& other) const;
  size_t hash() const;

 private:
  DType dtype_ = DType::f32;
  Shape shape_;
  Buffer buffer_;
};

// dtype, shape and the elements, every digit that matters: f32[2,2] {1, 2.5, nan, -inf}.
KERATIN_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

template <class T>
std::span<T> Tensor::data() const {
  detail::require(dtype_of<std::remove_const_t<T>>() == dtype_, "Tensor: asked for ",
                  dtype_of<std::remove_const_t<T>>(), " elements of a ", dtype_, " tensor");
  return {static_cast<T*>(raw()), static_cast<size_t>(count())};
}

template <class T>
Tensor Tensor::of(DType dtype, Shape shape, const std::vector<T>& values) {
  Tensor tensor(dtype, shape);
  detail::require(static_cast<int64_t>(values.size()) == tensor.count(), "Tensor: shape ", shape,
                  " has ", tensor.count(), " elements, got ", values.size(), " values");
  dispatch(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    auto* out = static_cast<S*>(tensor.raw());
    for (size_t i = 0; i < values.size(); ++i) out[i] = convert<S>(static_cast<T>(values[i]));
  });
  return tensor;
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> values(static_cast<size_t>(count()));
  dispatch(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const auto* in = static_cast<const S*>(raw());
    for (size_t i = 0; i < values.size(); ++i) values[i] = convert<T>(in[i]);
  });
  return values;
}

}  // namespace keratin
