#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace keratin {

// Values that follow from state, which the plans of a process share.

// Memory for a value, not stored yet.
std::shared_ptr<void> new_stored_value(size_t bytes);
// The value with this key; nullptr if nobody keeps one.
std::shared_ptr<void> find_stored_value(const std::string& key);
// Makes a value known while somebody keeps it.
void store_value(const std::string& key, const std::shared_ptr<void>& value);

// The memory of all values that somebody keeps.
size_t stored_value_bytes();

}  // namespace keratin
