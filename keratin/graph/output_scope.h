#pragma once

#include <functional>

#include "keratin/ir/node.h"

namespace keratin {

class Layer;

// While it lives, what layers give in programs that this thread writes is what a function makes of
// it.
class OutputScope {
 public:
  using Change = std::function<Value(const Layer& layer, Value output)>;

  explicit OutputScope(Change change);
  ~OutputScope();
  OutputScope(const OutputScope&) = delete;
  OutputScope& operator=(const OutputScope&) = delete;

  static Value changed(const Layer& layer, Value output);  // as it is, outside all scopes

 private:
  Change change_;
  const OutputScope* outer_;
};

}  // namespace keratin
