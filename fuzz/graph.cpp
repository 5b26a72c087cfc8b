#include <cstdlib>

#include "fuzz/hush.h"
#include "fuzz/mutates_json.h"
#include "keratin/layers/registry.h"

// Any text gives a model or a UserError. A model can be written to JSON, and writing it again gives
// the same JSON. The first JSON may differ, since old names become today's.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  fuzz::hush();
  const auto again = [](const Json& config) { return serialize_layer(*layer_from_json(config)); };
  try {
    const Json once = again(again(Json::parse({reinterpret_cast<const char*>(data), size})));
    if (again(once).dump() != once.dump()) std::abort();  // as text, NaN equals NaN
  } catch (const UserError&) {
  }
  return 0;
}
