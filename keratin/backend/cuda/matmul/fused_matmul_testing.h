#pragma once

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/registry.h"

namespace keratin::cuda {

// A matmul and the ops after it.
struct FusedMatmulCase {
  std::string types[4];  // a, b, one number per column, one per element
  std::string body;      // of %0 to %3 to %5; DTYPE is their type
};

// One fused node of such a case.
inline Module module_of(FusedMatmulCase c, const std::string& dtype) {
  std::string given, names, taken;
  for (size_t i = 0; i < 4; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    given += text(comma, "%p", i, ": ", dtype, c.types[i], "@gpu:0");
    names += text(comma, "%p", i);
    taken += text(comma, "%", i, ": ", dtype, c.types[i], "@gpu:0");
  }
  if (const size_t at = c.body.find("DTYPE"); at != std::string::npos) c.body.replace(at, 5, dtype);
  Module m =
      ops::parse(text("module(", given, ") {\n%y = fused(", names, ") {kind = \"epilogue\"} do(",
                      taken, ") {\n", c.body, "\nyield %5\n}\nreturn %y\n}"));
  m.block().nodes().back()->place({Device::Kind::gpu, 0});
  return m;
}

}  // namespace keratin::cuda
