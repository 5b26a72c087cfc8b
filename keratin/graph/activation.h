#pragma once

#include <functional>
#include <string>

#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

namespace keratin {

// A function of one value: Keras's by name ("relu", "swish"), or any callable.
class Activation {
 public:
  using Function = std::function<Value(Value)>;

  Activation() : Activation("linear") {}
  Activation(const char* name) : Activation(std::string(name)) {}  // NOLINT
  Activation(const std::string& name);                             // NOLINT
  // A callable; it is saved under its name, and found by it again.
  Activation(std::string name, Function function);

  Value operator()(Value x) const;
  const std::string& name() const { return named_->name; }

  Json to_json() const { return name(); }
  // A name, null (linear), or an envelope of a function or of an activation layer.
  static Activation from_json(const Json& json);
  bool operator==(const Activation&) const = default;

 private:
  // Shared by the configs of many layers.
  struct Named {
    std::string name;
    Function function = {};
    bool operator==(const Named& other) const { return name == other.name; }
  };
  SharedValue<Named> named_;
};

}  // namespace keratin

#pragma GCC visibility pop
