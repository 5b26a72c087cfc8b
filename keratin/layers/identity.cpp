#include "keratin/layers/core.h"

namespace keratin {

IdentityLayer::IdentityLayer(IdentityConfig config, LayerOptions options)
    : LayerOf(config, std::move(options)) {
  set_built();
}

Results IdentityLayer::call(const Call& c) const {
  return c.argument(0).map<Value>([](const Traced& t) { return t.value; });
}

}  // namespace keratin
