#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <typeindex>
#include <utility>

#include "keratin/base/fields.h"
#include "keratin/base/json.h"
#include "keratin/ir/value.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// A struct of the user's with Keras's name, a field list and `Value call(Value) const`: an
// activation, a regularizer, a constraint or a schedule of the learning rate, whichever it is used
// as. `void check() const` refuses invalid fields.
template <class T>
concept FunctionConfig = HasFields<T> && requires(const T& config, Value x) {
  { T::keras_name } -> std::convertible_to<std::string_view>;
  { config.call(x) } -> std::same_as<Value>;
};

// The same for an initializer, with `Tensor call(const Shape&, DType, uint64_t seed) const`.
template <class T>
concept InitializerConfig = HasFields<T> &&
    requires(const T& config, const Shape& shape, DType dtype, uint64_t seed) {
  { T::keras_name } -> std::convertible_to<std::string_view>;
  { config.call(shape, dtype, seed) } -> std::same_as<Tensor>;
};

namespace detail {

// The fields of such a struct, as files have them; an error if they are invalid.
template <class C>
Json checked_config(const C& config);

// What a struct is to files, and what it computes.
template <class Function>
struct ConfiguredFunction {
  std::string_view class_name;
  std::type_index type;
  Json config;
  Function function;
};

template <FunctionConfig C>
ConfiguredFunction<std::function<Value(Value)>> configured(C config) {
  Json json = checked_config(config);
  return {C::keras_name, typeid(C), std::move(json),
          [config = std::move(config)](Value x) { return config.call(x); }};
}
template <InitializerConfig C>
ConfiguredFunction<std::function<Tensor(const Shape&, DType, uint64_t)>> configured(C config) {
  Json json = checked_config(config);
  return {C::keras_name, typeid(C), std::move(json),
          [config = std::move(config)](const Shape& shape, DType dtype, uint64_t seed) {
            return config.call(shape, dtype, seed);
          }};
}

}  // namespace detail
}  // namespace keratin
