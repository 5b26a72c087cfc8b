#include "keratin/plan/backend.h"

#include "keratin/plan/device_queue.h"

namespace keratin {

std::unique_ptr<DeviceQueue> Backend::open(Device) const { return nullptr; }

}  // namespace keratin
