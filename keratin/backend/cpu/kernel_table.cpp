#include "keratin/backend/cpu/kernel_table.h"

#include "keratin/base/text.h"

#if defined(__x86_64__)
#include <xbyak/xbyak_util.h>
#endif

namespace keratin::cpu {

// Each is compiled from kernels/table.cpp for its own level.
#if defined(__x86_64__)
namespace v2 {
KernelTable make_table();
}
namespace v3 {
KernelTable make_table();
}
namespace v4 {
KernelTable make_table();
}
#else
namespace portable {
KernelTable make_table();
}
#endif

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

std::vector<KernelTable> make_tables() {
#if defined(__x86_64__)
  using Maker = KernelTable (*)();
  constexpr Maker makers[] = {v2::make_table, v3::make_table, v4::make_table};
  std::vector<KernelTable> tables;
  for (const Level level : levels()) tables.push_back(makers[static_cast<size_t>(level)]());
  return tables;
#else
  return {portable::make_table()};
#endif
}

const std::vector<KernelTable>& tables() {
  static const std::vector<KernelTable> made = make_tables();
  return made;
}

}  // namespace

const std::vector<Level>& levels() {
  static const std::vector<Level> found = detect();
  return found;
}

const KernelTable& kernels(Level level) {
  const auto index = static_cast<size_t>(level);
  ensure(index < tables().size(), "cpu: kernels of a level that this processor lacks");
  return tables()[index];
}

const KernelTable& kernels() { return tables().back(); }

}  // namespace keratin::cpu
