#include "keratin/backend/cpu/levels.h"

#include "keratin/base/text.h"

#if defined(__x86_64__)
#include <xbyak/xbyak_util.h>
#endif

namespace keratin::cpu {
namespace {

std::vector<Level> detect() {
  std::vector<Level> found{Level::v2};
#if defined(__x86_64__)
  using Cpu = Xbyak::util::Cpu;
  const Cpu cpu;
  const auto has = [&](auto... features) { return (cpu.has(features) && ...); };
  if (!has(Cpu::tSSE42, Cpu::tPOPCNT)) {
    throw BackendError("cpu: expected a processor with SSE4.2 (x86-64-v2), got an older one");
  }
  if (!has(Cpu::tAVX, Cpu::tAVX2, Cpu::tBMI1, Cpu::tBMI2, Cpu::tF16C, Cpu::tFMA, Cpu::tLZCNT,
           Cpu::tMOVBE))
    return found;
  found.push_back(Level::v3);
  if (has(Cpu::tAVX512F, Cpu::tAVX512BW, Cpu::tAVX512CD, Cpu::tAVX512DQ, Cpu::tAVX512VL))
    found.push_back(Level::v4);
#endif
  return found;
}

}  // namespace

const std::vector<Level>& levels() {
  static const std::vector<Level> found = detect();
  return found;
}

size_t level_index(Level level) {
  const auto index = static_cast<size_t>(level);
  ensure(index < levels().size(), "cpu: routines of a level that this processor lacks");
  return index;
}

}  // namespace keratin::cpu
