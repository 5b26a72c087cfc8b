#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/error.h"
#include "keratin/base/export.h"

namespace keratin {

// A setting for the outputs of a model: one for all outputs, a list with one for each, or by the
// outputs' names.
template <class T>
class KERATIN_API PerOutput {
 public:
  using ByName = std::map<std::string, T>;

  PerOutput();
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::convertible_to<U, T> PerOutput(U one) : PerOutput(T(std::move(one)), 0) {}
  PerOutput(std::initializer_list<T> each);  // NOLINT(google-explicit-constructor)
  PerOutput(std::vector<T> each);            // NOLINT(google-explicit-constructor)
  PerOutput(ByName by_name);                 // NOLINT(google-explicit-constructor)

  ~PerOutput();
  PerOutput(const PerOutput& other);
  PerOutput(PerOutput&& other) noexcept;
  PerOutput& operator=(const PerOutput& other);
  PerOutput& operator=(PerOutput&& other) noexcept;

  bool empty() const { return !one_ && !each_ && !by_name_; }
  const std::optional<T>& one() const { return one_; }
  const std::optional<std::vector<T>>& each() const { return each_; }
  const std::optional<ByName>& by_name() const { return by_name_; }

  // The same with each setting replaced.
  template <class Make>
  PerOutput map(const Make& make) const;

  // The setting of each output. `argument` is its name in messages.
  std::vector<std::optional<T>> resolve(const std::vector<std::string>& outputs,
                                        std::string_view argument) const;

 private:
  PerOutput(T one, int);

  std::optional<T> one_;
  std::optional<std::vector<T>> each_;
  std::optional<ByName> by_name_;
};

template <class T>
PerOutput<T>::PerOutput() = default;
template <class T>
PerOutput<T>::PerOutput(T one, int) : one_(std::move(one)) {}
template <class T>
PerOutput<T>::PerOutput(std::initializer_list<T> each) : each_(std::vector<T>(each)) {}
template <class T>
PerOutput<T>::PerOutput(std::vector<T> each) : each_(std::move(each)) {}
template <class T>
PerOutput<T>::PerOutput(ByName by_name) : by_name_(std::move(by_name)) {}
template <class T>
PerOutput<T>::~PerOutput() = default;
template <class T>
PerOutput<T>::PerOutput(const PerOutput& other) = default;
template <class T>
PerOutput<T>::PerOutput(PerOutput&& other) noexcept = default;
template <class T>
PerOutput<T>& PerOutput<T>::operator=(const PerOutput& other) = default;
template <class T>
PerOutput<T>& PerOutput<T>::operator=(PerOutput&& other) noexcept = default;

template <class T>
template <class Make>
PerOutput<T> PerOutput<T>::map(const Make& make) const {
  PerOutput out = *this;
  if (out.one_) out.one_ = make(*out.one_);
  if (out.each_)
    for (T& one : *out.each_) one = make(one);
  if (out.by_name_)
    for (auto& [name, one] : *out.by_name_) one = make(one);
  return out;
}

template <class T>
std::vector<std::optional<T>> PerOutput<T>::resolve(const std::vector<std::string>& outputs,
                                                    std::string_view argument) const {
  std::vector<std::optional<T>> out(outputs.size());
  if (one_) return std::vector<std::optional<T>>(outputs.size(), one_);
  if (each_) {
    detail::require(each_->size() == outputs.size(), "`", argument,
                    "`: expected one for each of the ", outputs.size(),
                    " outputs of the model, got ", each_->size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = (*each_)[i];
  }
  if (by_name_) {
    std::string known;
    for (const std::string& name : outputs) known += (known.empty() ? "'" : ", '") + name + "'";
    for (const auto& [name, value] : *by_name_) {
      bool found = false;
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] != name) continue;
        out[i] = value;
        found = true;
      }
      detail::require(found, "`", argument, "`: '", name,
                      "' is no output of the model; its outputs are [", known, "]");
    }
  }
  return out;
}

}  // namespace keratin
