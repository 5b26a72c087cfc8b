#pragma once

#include <functional>
#include <string>

#include "touches.h"

namespace keratin::simulator {

struct Grid {
  Index3 blocks, threads;  // sizes
  unsigned shared_bytes = 0;
};

// Runs a kernel: clusters of blocks one after the other, the threads of a cluster in turns. Every
// second launch begins with the last block and the last thread, so that what depends on their order
// gives other results. Shared memory begins as bytes of 0xff, which are NaN. What is wrong
// with the kernel, or nothing.
std::string run(const ModuleInfo& module, const KernelInfo& kernel, const Grid& grid,
                void** arguments);

// What the kernel that ran last touched of memory that blocks share, if that was looked at.
void each_touched(const Touches::Visit& visit);

Runtime& runtime();

}  // namespace keratin::simulator
