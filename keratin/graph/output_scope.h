#pragma once

#include <functional>

#include "keratin/ir/node.h"

namespace keratin {

class Layer;

// While it lives, a function may replace each output of each layer that this thread traces. Scopes
// are a stack of the thread: the innermost one counts.
class OutputScope {
 public:
  using Change = std::function<Value(const Layer& layer, Value output)>;

  explicit OutputScope(Change change);
  ~OutputScope();
  OutputScope(const OutputScope&) = delete;
  OutputScope& operator=(const OutputScope&) = delete;

  static Value changed(const Layer& layer, Value output);  // the output itself without a scope

 private:
  Change change_;
  const OutputScope* outer_;
};

}  // namespace keratin
