#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"
#include "keratin/tensor/tensor.h"

// Elements and rows of tensors, and tensors from lists and from memory of others.
namespace keratin {
namespace {

int64_t checked(int64_t index, int64_t axis, int64_t size) {
  require(index >= -size && index < size, "Tensor: index ", index, " is out of bounds for axis ",
          axis, " with size ", size);
  return index < 0 ? index + size : index;
}

std::byte* at_byte(const Tensor& tensor, int64_t position) {
  return static_cast<std::byte*>(tensor.raw()) +
         static_cast<size_t>(position) * size_of(tensor.dtype());
}

// The type stores the number as it is, apart from rounding in floats.
template <class S, class T>
bool holds(T value) {
  using C = compute_t<S>;
  if constexpr (std::is_same_v<S, bool>) {
    return value == T(0) || value == T(1);
  } else if constexpr (std::is_floating_point_v<C>) {
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    return value == std::floor(value) && value >= -0x1p63 && value < 0x1p63 &&
           holds<S>(static_cast<int64_t>(value));
  } else {
    return value >= std::numeric_limits<C>::min() && value <= std::numeric_limits<C>::max();
  }
}

template <class T>
void store(DType dtype, void* memory, T value) {
  dispatch(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    require(holds<S>(value), "Tensor: an element of dtype ", dtype, " cannot be ", value);
    *static_cast<S*>(memory) = convert<S>(value);
  });
}

void require_count(const Shape& shape, size_t count) {
  require(static_cast<int64_t>(count) == shape.count(), "Tensor: shape ", shape, " has ",
          shape.count(), " elements, got ", count, " values");
}

}  // namespace

Tensor Tensor::copied(DType dtype, const Shape& shape, const void* values, size_t count) {
  require_count(shape, count);
  Tensor tensor(dtype, shape);
  if (count > 0) std::memcpy(tensor.raw(), values, tensor.bytes());
  return tensor;
}

Tensor Tensor::viewed(DType dtype, const Shape& shape, void* memory, size_t count) {
  require_count(shape, count);
  const std::shared_ptr<void> unowned(memory, [](void*) {});
  return {dtype, shape, Buffer::wrap(unowned, count * size_of(dtype))};
}

Tensor::Element Tensor::element(std::span<const int64_t> index) const {
  require(defined(), "Tensor: an empty tensor has no elements");
  require(static_cast<int64_t>(index.size()) == shape_.rank(), "Tensor: expected ", shape_.rank(),
          " indices for shape ", shape_, ", got ", index.size());
  int64_t position = 0;
  for (int64_t axis = 0; axis < shape_.rank(); ++axis)
    position =
        position * shape_[axis] + checked(index[static_cast<size_t>(axis)], axis, shape_[axis]);
  return {dtype_, at_byte(*this, position)};
}

std::string Tensor::Element::string() const {
  require(dtype_ == DType::string, "Tensor: asked for a string of a ", dtype_, " tensor");
  return std::string(*static_cast<const std::string_view*>(memory_));
}
double Tensor::Element::value() const { return as<double>(); }
void Tensor::Element::assign(double value) const { store(dtype_, memory_, value); }
void Tensor::Element::assign(int64_t value) const { store(dtype_, memory_, value); }

const Tensor::Element& Tensor::Element::operator=(const Element& other) const {
  if (this == &other) return *this;
  if (is_float(other.dtype_))
    assign(other.as<double>());
  else
    assign(other.as<int64_t>());
  return *this;
}
Tensor::Element& Tensor::Element::operator=(const Element& other) {
  if (this == &other) return *this;
  std::as_const(*this) = other;
  return *this;
}

Tensor Tensor::row(int64_t index) const {
  require(defined() && shape_.rank() > 0, "Tensor: a tensor of shape ", shape_, " has no rows");
  index = checked(index, 0, shape_[0]);
  const Shape shape(std::span(shape_.begin() + 1, shape_.end()));
  const size_t bytes = static_cast<size_t>(shape.count()) * size_of(dtype_);
  const auto whole = std::make_shared<Buffer>(buffer_);
  const std::shared_ptr<void> part(whole, buffer_.data() + bytes * static_cast<size_t>(index));
  return {dtype_, shape, Buffer::wrap(part, bytes)};
}

Tensor::Rows Tensor::rows() const { return Rows(*this); }

Tensor::Rows::Rows(Tensor tensor) : tensor_(std::move(tensor)) {
  require(tensor_.defined() && tensor_.shape().rank() > 0, "Tensor: a tensor of shape ",
          tensor_.shape(), " has no rows");
}

namespace detail {

void NestedList::enter(size_t axis, size_t size) {
  if (axis == dims_.size()) dims_.push_back(static_cast<int64_t>(size));
  require(dims_[axis] == static_cast<int64_t>(size), "Tensor: the lists of axis ", axis,
          " differ in length: ", dims_[axis], " and ", size);
}

void NestedList::append(const void* values, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(values);
  bytes_.insert(bytes_.end(), first, first + bytes);
}

void NestedList::append(std::initializer_list<const char*> strings) {
  for (const std::string_view element : strings) append(&element, sizeof(std::string_view));
}

Tensor NestedList::take() {
  Tensor tensor(dtype_, dims_);
  if (!bytes_.empty()) std::memcpy(tensor.raw(), bytes_.data(), bytes_.size());
  return tensor.own_strings();
}

}  // namespace detail
}  // namespace keratin
