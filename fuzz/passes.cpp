#include <cstdlib>

#include "fuzz/mutate.h"
#include "keratin/ops/registry.h"
#include "keratin/passes/canonicalize.h"
#include "keratin/passes/eliminate_common.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/passes/insert_transfers.h"
#include "keratin/passes/place_devices.h"
#include "keratin/passes/schedule_updates.h"
#include "keratin/passes/simplify.h"

// Whatever parses, passes turn into something that verifies and keeps its results' types.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  Module module;
  try {
    module = ops::parse({reinterpret_cast<const char*>(data), size});
  } catch (const UserError&) {
    return 0;
  }
  Types types;
  for (const Value& result : module.block().results) types.push_back(result.type());
  const auto place = [](Module m) { return place_devices(std::move(m)); };
  for (const std::function<Module(Module)>& pass :
       std::initializer_list<std::function<Module(Module)>>{canonicalize, simplify,
                                                            eliminate_common, eliminate_dead, place,
                                                            insert_transfers, schedule_updates}) {
    module = pass(std::move(module));
    verify(module);
  }
  const Values& results = module.block().results;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].dtype() != types[i].dtype || results[i].shape() != types[i].shape) std::abort();
  return 0;
}
