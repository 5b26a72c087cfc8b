#pragma once

#include <span>

#include "keratin/base/text.h"
#include "keratin/plan/backend.h"

// The table of kernels: which op is run by what. kernels.cpp is the one list of them.
namespace keratin::cpu {

// Makes a kernel for a node, or says why it does not.
using Maker = Offer (*)(const Node&, const KernelOptions&);

struct KernelEntry {
  const OpDef* op;
  // Tried in this order; the first that offers a kernel wins.
  std::span<const Maker> makers;
  // Cheap: would one of the makers offer a kernel? Unset: always. Matters for ops with a
  // decomposition, which is chosen when nobody claims the op.
  bool (*claims)(const Node&) = nullptr;
};

// nullptr when nothing here runs the op.
const KernelEntry* find_kernels(const OpDef& op);

}  // namespace keratin::cpu
