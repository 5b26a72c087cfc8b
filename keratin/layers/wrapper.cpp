#include "keratin/layers/wrappers.h"

#include "keratin/base/text.h"

namespace keratin {

WrapperLayer::WrapperLayer(WrapperConfig config, LayerOptions options)
    : WrapperOf(std::move(config), std::move(options)) {}

Results WrapperLayer::call(const Call&) const {
  fail("Layer Wrapper ('", name(), "') does not have a `call()` method implemented.");
}

}  // namespace keratin
