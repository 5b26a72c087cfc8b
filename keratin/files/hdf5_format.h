#pragma once

#include <cstdint>

// Constants that the reader and the writer of HDF5 files share.
namespace keratin::hdf5 {

inline constexpr uint64_t undefined_address = ~uint64_t{0};  // an address that is not set

}  // namespace keratin::hdf5
