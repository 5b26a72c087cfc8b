#pragma once

#include <functional>

#include "keratin/backend/cuda/driver/driver.h"

namespace keratin::cuda {

// Records what `launches` puts into a stream as a graph, without running it. nullptr where the
// driver cannot record it. Passes on what `launches` throws; the stream runs launches again
// afterwards.
GraphExecHandle record_graph(StreamHandle stream, const std::function<void()>& launches);

}  // namespace keratin::cuda
