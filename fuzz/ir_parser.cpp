#include <cstdlib>

#include "fuzz/mutate.h"
#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

// Any text gives a module or a UserError. A module verifies, and parsing its text form gives the
// same text.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  Module module;
  try {
    module = ops::parse({reinterpret_cast<const char*>(data), size});
  } catch (const UserError&) {
    return 0;
  }
  verify(module);
  const std::string once = text(module);
  const Module again = ops::parse(once);
  verify(again);
  if (text(again) != once) std::abort();
  if (text(again.clone()) != once) std::abort();
  return 0;
}
