#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "keratin/base/text.h"
#include "keratin/files/compression.h"

namespace keratin::files {
namespace {

TEST(Crc32, IsThatOfZlib) {
  std::mt19937 random(1);
  std::string bytes(1000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t size = 0; size < 700; ++size)
    for (const uint32_t before : {0u, 1u, 0xdeadbeefu}) {
      const std::string_view part(bytes.data() + size % 17, size);
      EXPECT_EQ(crc32(as_bytes(part), before),
                ::crc32(before, reinterpret_cast<const Bytef*>(part.data()), size))
          << size;
    }
}

TEST(Crc32, GoesOn) {
  const std::string text(300, 'k');
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926);  // the sum that every CRC-32 is told by
  EXPECT_EQ(crc32(as_bytes(text), crc32(as_bytes(text))), crc32(as_bytes(text + text)));
}

}  // namespace
}  // namespace keratin::files
