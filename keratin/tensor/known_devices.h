#pragma once

#include <string_view>

#include "keratin/tensor/device.h"

#pragma GCC visibility push(default)

namespace keratin {

// "compile: there is no device gpu:2; …" unless there is. Whoever puts something on a device asks;
// the engine, which knows what backends find, answers (engine/devices.cpp).
void require_device(Device device, std::string_view who);

}  // namespace keratin

#pragma GCC visibility pop
