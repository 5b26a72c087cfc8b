#pragma once

#include "keratin/files/bytes.h"

namespace keratin::files {

// The largest ratio of inflated to deflated size that the format allows.
inline constexpr uint64_t max_inflation = 1032;

// Zips hold raw streams; HDF5 has them with zlib's header and checksum.
enum class Deflated { raw, zlib };

// Inflates a stream into `out`. False if the stream is damaged or does not fill `out` exactly.
bool inflate_into(Bytes packed, std::span<std::byte> out, Deflated form);

// The CRC-32 of `bytes`, continued from the CRC of the bytes before them.
uint32_t crc32(Bytes bytes, uint32_t before = 0);

}  // namespace keratin::files
