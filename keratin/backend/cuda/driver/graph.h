#pragma once

#include <functional>

#include "keratin/backend/cuda/driver/driver.h"

namespace keratin::cuda {

// What `launches` puts into a stream, not run but recorded, to be launched as one. nullptr where
// the driver cannot make one thing of it. Whatever `launches` throws comes through, and the stream
// runs again what it is given.
GraphExecHandle record_graph(StreamHandle stream, const std::function<void()>& launches);

}  // namespace keratin::cuda
