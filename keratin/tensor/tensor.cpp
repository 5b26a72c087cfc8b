#include "keratin/tensor/tensor.h"

#include <cstring>

#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/tensor/resident_copy.h"

namespace keratin {

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(shape),
      buffer_(Buffer::allocate(static_cast<size_t>(shape.count()) * size_of(dtype))) {}

Tensor::Tensor(DType dtype, Shape shape, Buffer buffer)
    : dtype_(dtype), shape_(shape), buffer_(std::move(buffer)) {
  require(buffer_.size() >= bytes(), "Tensor: ", dtype, shape, " needs ", bytes(),
          " bytes, the buffer has ", buffer_.size());
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  return {dtype, shape, Buffer::zeros(static_cast<size_t>(shape.count()) * size_of(dtype))};
}

Tensor Tensor::full(DType dtype, Shape shape, double value) {
  Tensor tensor(dtype, shape);
  dispatch(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    auto* out = static_cast<S*>(tensor.raw());
    std::fill(out, out + tensor.count(), convert<S>(value));
  });
  return tensor;
}

const Tensor& Tensor::wait() const {
  copy_to_host(raw());
  return *this;
}

double Tensor::at(int64_t position) const {
  require(position >= 0 && position < count(), "Tensor: position ", position, " is outside ",
          shape_);
  return dispatch(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return convert<double>(static_cast<const S*>(raw())[position]);
  });
}

void Tensor::set(int64_t position, double value) {
  require(position >= 0 && position < count(), "Tensor: position ", position, " is outside ",
          shape_);
  dispatch(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    static_cast<S*>(raw())[position] = convert<S>(value);
  });
}

Tensor Tensor::clone() const {
  Tensor copy(dtype_, shape_);
  std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor result(dtype, shape_);
  dispatch(dtype_, [&](auto from) {
    dispatch(dtype, [&](auto to) {
      using S = typename decltype(from)::type;
      using T = typename decltype(to)::type;
      const auto* in = static_cast<const S*>(raw());
      auto* out = static_cast<T*>(result.raw());
      for (int64_t i = 0; i < count(); ++i) out[i] = convert<T>(in[i]);
    });
  });
  return result;
}

Tensor Tensor::reshape(Shape shape) const {
  require(shape.count() == count(), "Tensor: cannot reshape ", shape_, " to ", shape);
  return {dtype_, shape, buffer_};
}

bool Tensor::operator==(const Tensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ && defined() == other.defined() &&
         (raw() == other.raw() || std::memcmp(raw(), other.raw(), bytes()) == 0);
}

size_t Tensor::hash() const {
  if (!defined()) return 0;
  const std::string_view content(static_cast<const char*>(raw()), bytes());
  return detail::mix(detail::mix(static_cast<size_t>(dtype_), shape_.hash()),
                     detail::hash_of(content));
}

}  // namespace keratin
