#pragma once

#include <cstddef>
#include <functional>

// What libraries that stand in for others' (cuBLASLt, cuDNN, NCCL) ask of the driver's.
namespace keratin::simulator {

struct Stream;  // what CUDA calls a CUstream

// Work for a stream: done in its order and as late as possible, or captured into a graph. It may be
// done on any thread. The answer is a result of CUDA's driver, 0 for success.
int enqueue(Stream* stream, std::function<void()> work);

// The work that is being done reads or writes memory.
void report(const void* memory, size_t bytes, bool writes);

// What the stream is given from now on waits for all that the other one has been given.
int wait_for(Stream* stream, Stream* other);

}  // namespace keratin::simulator
