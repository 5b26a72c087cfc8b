#include "keratin/graph/output_scope.h"

#include <utility>

namespace keratin {
namespace {

thread_local const OutputScope* innermost = nullptr;

}  // namespace

OutputScope::OutputScope(Change change) : change_(std::move(change)), outer_(innermost) {
  innermost = this;
}

OutputScope::~OutputScope() { innermost = outer_; }

Value OutputScope::changed(const Layer& layer, Value output) {
  return innermost == nullptr ? output : innermost->change_(layer, output);
}

}  // namespace keratin
