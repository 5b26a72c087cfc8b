#pragma once

#include <string_view>

#include "keratin/base/export.h"
#include "keratin/tensor/device.h"

namespace keratin {

// "compile: there is no device gpu:2; …" unless there is. Whoever puts something on a device asks;
// the engine, which knows what backends find, answers (engine/devices.cpp).
KERATIN_API void require_device(Device device, std::string_view who);

}  // namespace keratin
