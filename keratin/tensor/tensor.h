#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/buffer.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/shape.h"

namespace keratin {

namespace detail {

// The C++ types that a tensor's elements can have, one for each dtype.
template <class T>
concept ElementType = std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, Half> ||
    std::same_as<T, BFloat16> || std::same_as<T, int8_t> || std::same_as<T, uint8_t> ||
    std::same_as<T, int32_t> || std::same_as<T, int64_t> || std::same_as<T, bool>;

// What lists in braces can hold: such elements, or string literals.
template <class T>
concept Listed = ElementType<T> || std::same_as<T, const char*>;

template <class R>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<R&>().data())>;

// A vector, span or array of such elements.
template <class R>
concept Elements = ElementType<ElementOf<R>>;

}  // namespace detail

// Data: elements of one dtype in row-major order in host memory. Copies share the buffer. An
// element of a tensor of strings is a std::string_view; the characters follow the elements in the
// buffer.
class KERATIN_API Tensor {
 public:
  class Element;
  class Rows;

  Tensor() = default;
  Tensor(DType dtype, Shape shape);  // contents undefined
  Tensor(DType dtype, Shape shape, Buffer buffer);

  // Tensor({{1.f, 2.f}, {3.f, 4.f}}), Tensor({"a", "b"}): up to four levels. The dtype is that of
  // the elements.
  template <detail::Listed T>
  Tensor(std::initializer_list<T> values);
  template <detail::Listed T>
  Tensor(std::initializer_list<std::initializer_list<T>> values);
  template <detail::Listed T>
  Tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values);
  template <detail::Listed T>
  Tensor(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>
          values);
  // A copy of a vector's, span's or array's elements: as many as the shape has.
  template <detail::Elements R>
  Tensor(const R& values, const Shape& shape);
  Tensor(const std::vector<std::string>& values, const Shape& shape);
  explicit Tensor(const std::vector<std::string>& values);

  // The memory of a vector, span or array itself; nothing is copied, and writes go through to it.
  // The memory must outlive the tensor, its copies, and what was made of them by `reshape`, `row`
  // or `rows`. A model that is given such a tensor does not keep it after the call.
  template <detail::Elements R>
  static Tensor view(R&& memory, const Shape& shape);

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
  // The elements; T must be the storage type of the dtype: for (float& x : t.data<float>()) …
  template <class T>
  std::span<T> data() const;

  // One element: t(0, 1), or t(0, -1) as NumPy counts from the end. An index for each axis; one
  // that is out of range is a UserError.
  template <std::convertible_to<int64_t>... Index>
  requires(sizeof...(Index) > 0) Element operator()(Index... index);
  template <std::convertible_to<int64_t>... Index>
  requires(sizeof...(Index) > 0) double operator()(Index... index) const;
  // The same as any type, converted as `cast` does; i64 is exact as int64_t. A string is read as
  // std::string.
  template <class T = double>
  T at(std::initializer_list<int64_t> index) const;
  template <class T>
  void set(std::initializer_list<int64_t> index, T value);

  // The part at an index of the first axis, without that axis. It shares the memory.
  Tensor row(int64_t index) const;
  Tensor operator[](int64_t index) const { return row(index); }
  // All of them, in order: for (Tensor row : t.rows()) …
  Rows rows() const;

  // One element, by its row-major position, as a double (exact but for large i64).
  double at(int64_t position) const;
  void set(int64_t position, double value);
  template <class T = double>
  std::vector<T> to_vector() const;
  std::vector<std::string> to_strings() const;  // of a tensor of strings

  Tensor clone() const;
  Tensor cast(DType dtype) const;
  Tensor reshape(Shape shape) const;  // shares the buffer

  // Strings, copied so that the buffer has all their characters; other tensors as they are. For
  // tensors whose elements were copied from others.
  Tensor own_strings() const;

  // Same dtype, shape and bits, or characters.
  bool operator==(const Tensor& other) const;
  size_t hash() const;

 private:
  static Tensor copied(DType dtype, const Shape& shape, const void* values, size_t count);
  static Tensor viewed(DType dtype, const Shape& shape, void* memory, size_t count);
  Element element(std::span<const int64_t> index) const;

  DType dtype_ = DType::f32;
  Shape shape_;
  Buffer buffer_;
};

// An element of a tensor that lives: reads as a double, and can be assigned to.
class KERATIN_API Tensor::Element {
 public:
  Element(DType dtype, void* memory) : dtype_(dtype), memory_(memory) {}
  Element(const Element&) = default;

  operator double() const { return value(); }  // NOLINT(google-explicit-constructor)
  double value() const;
  // Converted as `Tensor::cast` does; i64 is exact as int64_t.
  template <class T>
  T as() const;

  // Floats round. Integers and booleans take only what they can hold: 1.5 or 300 for a u8 is a
  // UserError.
  template <class T>
  requires std::is_arithmetic_v<T>
  const Element& operator=(T value) const {
    if constexpr (std::is_integral_v<T>)
      assign(static_cast<int64_t>(value));
    else
      assign(static_cast<double>(value));
    return *this;
  }
  const Element& operator=(const Element& other) const;
  Element& operator=(const Element& other);

 private:
  std::string string() const;
  void assign(double value) const;
  void assign(int64_t value) const;

  DType dtype_;
  void* memory_;
};

// The rows of a tensor, as a range.
class KERATIN_API Tensor::Rows {
 public:
  explicit Rows(Tensor tensor);

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Tensor;
    using difference_type = int64_t;
    using pointer = void;
    using reference = Tensor;

    Iterator(const Rows* rows, int64_t at) : rows_(rows), at_(at) {}
    Tensor operator*() const { return rows_->tensor_.row(at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Rows* rows_;
    int64_t at_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  int64_t size() const { return tensor_.shape()[0]; }

 private:
  Tensor tensor_;
};

// As NumPy prints arrays, under a line with dtype and shape; of more than 1000 elements the first
// and last three along each axis.
KERATIN_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
// On one line, all elements, every digit that matters: f32[2,2] {1, 2.5, nan, -inf}.
KERATIN_API std::string exact_text(const Tensor& tensor);

namespace detail {

// Gathers nested braces into a tensor, and refuses lists of different lengths.
class KERATIN_API NestedList {
 public:
  explicit NestedList(DType dtype) : dtype_(dtype) {}

  template <class T>
  void add(std::initializer_list<T> list, size_t axis = 0) {
    enter(axis, list.size());
    if constexpr (std::is_same_v<T, const char*>)
      append(list);
    else if constexpr (ElementType<T>)
      append(list.begin(), list.size() * sizeof(T));
    else
      for (const auto& inner : list) add(inner, axis + 1);
  }
  Tensor take();

 private:
  void enter(size_t axis, size_t size);
  void append(const void* values, size_t bytes);
  void append(std::initializer_list<const char*> strings);

  DType dtype_;
  Dims dims_;
  std::vector<std::byte> bytes_;
};

template <class T>
Tensor from_list(DType dtype, std::initializer_list<T> values) {
  NestedList list(dtype);
  list.add(values);
  return list.take();
}

template <Listed T>
constexpr DType listed_dtype() {
  if constexpr (std::is_same_v<T, const char*>)
    return DType::string;
  else
    return dtype_of<T>();
}

}  // namespace detail

template <detail::Listed T>
Tensor::Tensor(std::initializer_list<T> values)
    : Tensor(detail::from_list(detail::listed_dtype<T>(), values)) {}
template <detail::Listed T>
Tensor::Tensor(std::initializer_list<std::initializer_list<T>> values)
    : Tensor(detail::from_list(detail::listed_dtype<T>(), values)) {}
template <detail::Listed T>
Tensor::Tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values)
    : Tensor(detail::from_list(detail::listed_dtype<T>(), values)) {}
template <detail::Listed T>
Tensor::Tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>
        values)
    : Tensor(detail::from_list(detail::listed_dtype<T>(), values)) {}

template <detail::Elements R>
Tensor::Tensor(const R& values, const Shape& shape)
    : Tensor(copied(dtype_of<detail::ElementOf<const R>>(), shape, values.data(), values.size())) {}

template <detail::Elements R>
Tensor Tensor::view(R&& memory, const Shape& shape) {
  using Pointed = std::remove_reference_t<decltype(*memory.data())>;
  static_assert(!std::is_const_v<Pointed>,
                "Tensor::view: the memory is const, and tensors can be written to");
  return viewed(dtype_of<Pointed>(), shape, memory.data(), memory.size());
}

template <class T>
std::span<T> Tensor::data() const {
  detail::require(dtype_of<std::remove_const_t<T>>() == dtype_, "Tensor: asked for ",
                  dtype_of<std::remove_const_t<T>>(), " elements of a ", dtype_, " tensor");
  return {static_cast<T*>(raw()), static_cast<size_t>(count())};
}

template <std::convertible_to<int64_t>... Index>
requires(sizeof...(Index) > 0) Tensor::Element Tensor::operator()(Index... index) {
  const int64_t all[] = {static_cast<int64_t>(index)...};
  return element(all);
}
template <std::convertible_to<int64_t>... Index>
requires(sizeof...(Index) > 0) double Tensor::operator()(Index... index) const {
  const int64_t all[] = {static_cast<int64_t>(index)...};
  return element(all);
}

template <class T>
T Tensor::at(std::initializer_list<int64_t> index) const {
  return element({index.begin(), index.size()}).template as<T>();
}
template <class T>
void Tensor::set(std::initializer_list<int64_t> index, T value) {
  element({index.begin(), index.size()}) = value;
}

template <class T>
T Tensor::Element::as() const {
  if constexpr (std::is_same_v<T, std::string>)
    return string();
  else
    return detail::dispatch(dtype_, [&](auto tag) {
      using S = typename decltype(tag)::type;
      return detail::convert<T>(*static_cast<const S*>(memory_));
    });
}

template <class T>
Tensor Tensor::of(DType dtype, Shape shape, const std::vector<T>& values) {
  Tensor tensor(dtype, shape);
  detail::require(static_cast<int64_t>(values.size()) == tensor.count(), "Tensor: shape ", shape,
                  " has ", tensor.count(), " elements, got ", values.size(), " values");
  detail::dispatch(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    auto* out = static_cast<S*>(tensor.raw());
    for (size_t i = 0; i < values.size(); ++i)
      out[i] = detail::convert<S>(static_cast<T>(values[i]));
  });
  return tensor;
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> values(static_cast<size_t>(count()));
  detail::dispatch(dtype_, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const auto* in = static_cast<const S*>(raw());
    for (size_t i = 0; i < values.size(); ++i) values[i] = detail::convert<T>(in[i]);
  });
  return values;
}

}  // namespace keratin
