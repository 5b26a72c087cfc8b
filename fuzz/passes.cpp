#include <algorithm>
#include <cstdlib>
#include <string>

#include "fuzz/mutate.h"
#include "keratin/ops/registry.h"
#include "keratin/passes/canonicalize.h"
#include "keratin/passes/decompose_unclaimed.h"
#include "keratin/passes/eliminate_common.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/passes/fold_constants.h"
#include "keratin/passes/fuse_epilogue.h"
#include "keratin/passes/fuse_pointwise.h"
#include "keratin/passes/insert_transfers.h"
#include "keratin/passes/merge_scans.h"
#include "keratin/passes/place_devices.h"
#include "keratin/passes/prune_loops.h"
#include "keratin/passes/schedule_updates.h"
#include "keratin/passes/simplify.h"
#include "keratin/passes/sparse_updates.h"

namespace keratin {
namespace {

using Pass = Module (*)(Module);

Module with_devices(Module module) { return place_devices(std::move(module)); }

Module with_epilogues(Module module) { return fuse_epilogue(std::move(module)); }

Module decompose(Module module) {
  return decompose_unclaimed(std::move(module), [](const Node&) { return false; });
}

// Folds constants to zeros: passes must not depend on the values.
Module fold(Module module) {
  return fold_constants(std::move(module), [](const Node& node) {
    std::vector<Tensor> results;
    for (const Type& type : node.types()) results.push_back(Tensor::zeros(type.dtype, type.shape));
    return results;
  });
}

// Parses the program with every unknown size replaced by 2.
Module parse_known(std::string text) {
  std::replace(text.begin(), text.end(), '?', '2');
  return ops::parse(text);
}

Module run(Module module, std::initializer_list<Pass> passes) {
  Types types;
  for (const Value& result : module.block().results) types.push_back(result.type());
  for (const Pass pass : passes) {
    module = pass(std::move(module));
    verify(module);
    const Values& results = module.block().results;
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].dtype() != types[i].dtype || results[i].shape() != types[i].shape)
        std::abort();
  }
  return module;
}

Module tidy_up(Module module) {
  return run(std::move(module), {canonicalize, fold, simplify, eliminate_common, merge_scans,
                                 eliminate_dead, prune_loops, with_devices, insert_transfers});
}

bool all_known(const Block& block) {
  for (const auto& node : block.nodes())
    for (const Type& type : node->types())
      if (!type.shape.known()) return false;
  return true;
}

}  // namespace
}  // namespace keratin

// Runs the compiler's passes, in their order, on any text that parses: with unknown sizes, and with
// known sizes down to fused loops. The result of each pass verifies and has the same types.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  Module module, known;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    module = ops::parse(text);
    known = parse_known(text);
  } catch (const UserError&) {
    return 0;
  }
  tidy_up(std::move(module));
  verify(known);
  if (!all_known(known.block())) return 0;
  known = run(tidy_up(std::move(known)), {decompose, sparse_updates});
  run(tidy_up(std::move(known)),
      {with_epilogues, fuse_pointwise, eliminate_dead, schedule_updates});
  return 0;
}
