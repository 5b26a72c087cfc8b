#pragma once

#include "keratin/files/bytes.h"

namespace keratin::files {

// No deflated stream unpacks to more than this many times its size.
inline constexpr uint64_t max_inflation = 1032;

enum class Deflated { raw, zlib };  // as in a zip; with zlib's header and checksum, as in HDF5

// Unpacks exactly into `out`; false when the stream is damaged, shorter or longer.
bool inflate_into(Bytes packed, std::span<std::byte> out, Deflated form);

// Goes on from the checksum of what came before.
uint32_t crc32(Bytes bytes, uint32_t before = 0);

}  // namespace keratin::files
