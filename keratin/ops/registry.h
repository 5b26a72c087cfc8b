#pragma once

#include <span>
#include <string_view>

#include "keratin/ir/module.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

std::span<const OpDef* const> all_ops();
const OpDef* find_op(std::string_view name);  // nullptr when there is none

// A module from its text form, with the ops of the registry.
inline Module parse(std::string_view text) { return parse_module(text, find_op); }

}  // namespace keratin::ops
