#include <cstdlib>

#include "fuzz/hush.h"
#include "fuzz/mutates_json.h"
#include "keratin/io/compile_config.h"

// Any text gives a training config or a UserError. A config is written, and reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  fuzz::hush();
  const auto again = [](const Json& config) {
    return io::compile_config(io::training_options(config));
  };
  try {
    const Json once = again(Json::parse({reinterpret_cast<const char*>(data), size}));
    if (again(once).dump() != once.dump()) std::abort();  // as text, NaN equals NaN
  } catch (const UserError&) {
  }
  return 0;
}
