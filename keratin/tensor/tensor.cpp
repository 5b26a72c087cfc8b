#include "keratin/tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"
#include "keratin/tensor/resident_copy.h"

namespace keratin {
namespace {

bool same_strings(const Tensor& a, const Tensor& b) {
  const auto left = a.data<std::string_view>(), right = b.data<std::string_view>();
  return std::equal(left.begin(), left.end(), right.begin());
}

size_t hash_of_strings(const Tensor& tensor) {
  size_t hash = detail::mix(static_cast<size_t>(tensor.dtype()), tensor.shape().hash());
  for (const std::string_view element : tensor.data<std::string_view>())
    hash = detail::mix(hash, detail::hash_of(element));
  return hash;
}

// A tensor with copies of strings: the elements, then the characters.
Tensor stored(std::span<const std::string_view> strings, const Shape& shape) {
  require(static_cast<int64_t>(strings.size()) == shape.count(), "Tensor: shape ", shape, " has ",
          shape.count(), " elements, got ", strings.size(), " values");
  size_t characters = 0;
  for (const std::string_view element : strings) characters += element.size();
  const size_t elements = strings.size() * sizeof(std::string_view);
  const Buffer buffer = Buffer::allocate(elements + characters);
  char* next = reinterpret_cast<char*>(buffer.data()) + elements;
  auto* out = reinterpret_cast<std::string_view*>(buffer.data());
  for (const std::string_view element : strings) {
    std::copy(element.begin(), element.end(), next);
    *out++ = {next, element.size()};
    next += element.size();
  }
  return {DType::string, shape, buffer};
}

Tensor stored(const std::vector<std::string>& values, const Shape& shape) {
  return stored(std::vector<std::string_view>(values.begin(), values.end()), shape);
}

}  // namespace

Tensor::Tensor(const std::vector<std::string>& values, const Shape& shape)
    : Tensor(stored(values, shape)) {}
Tensor::Tensor(const std::vector<std::string>& values)
    : Tensor(values, {static_cast<int64_t>(values.size())}) {}

Tensor Tensor::own_strings() const {
  return dtype_ == DType::string && defined() ? stored(data<std::string_view>(), shape_) : *this;
}

std::vector<std::string> Tensor::to_strings() const {
  const auto elements = data<std::string_view>();
  return {elements.begin(), elements.end()};
}

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(shape),
      buffer_(dtype == DType::string
                  ? Buffer::zeros(static_cast<size_t>(shape.count()) * size_of(dtype))
                  : Buffer::allocate(static_cast<size_t>(shape.count()) * size_of(dtype))) {}

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
  if (dtype_ == DType::string) return own_strings();
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
         (raw() == other.raw() ||
          (dtype_ == DType::string ? same_strings(*this, other)
                                   : std::memcmp(raw(), other.raw(), bytes()) == 0));
}

size_t Tensor::hash() const {
  if (!defined()) return 0;
  if (dtype_ == DType::string) return hash_of_strings(*this);
  const std::string_view content(static_cast<const char*>(raw()), bytes());
  return detail::mix(detail::mix(static_cast<size_t>(dtype_), shape_.hash()),
                     detail::hash_of(content));
}

}  // namespace keratin
