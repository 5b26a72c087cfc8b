#pragma once

#include <span>

#include "keratin/backend/reference/loops.h"

// The tables of this backend, one per file of loops.
namespace keratin::reference {

std::span<const Entry> reduce_loops();
std::span<const Entry> movement_loops();
std::span<const Entry> matmul_loops();
std::span<const Entry> conv_loops();
std::span<const Entry> pool_loops();
std::span<const Entry> slicing_loops();
std::span<const Entry> indexing_loops();
std::span<const Entry> cumulative_loops();
std::span<const Entry> sort_loops();
std::span<const Entry> random_loops();

}  // namespace keratin::reference
