#include "keratin/base/json.h"

#include <cstdint>
#include <cstdlib>

#include "keratin/base/text.h"

// Any text gives a JSON value or a UserError. A value is written, on one line or on several, and
// reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  Json json;
  try {
    json = Json::parse({reinterpret_cast<const char*>(data), size});
  } catch (const UserError&) {
    return 0;
  }
  const std::string once = json.dump();
  if (Json::parse(once).dump() != once) std::abort();
  if (Json::parse(json.dump(2)).dump() != once) std::abort();
  return 0;
}
