#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "keratin/base/text.h"
#include "keratin/files/compression.h"

namespace keratin::files {
namespace {

TEST(Crc32, EqualsThatOfZlib) {
  std::mt19937 random(1);
  std::string bytes(1000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t size = 0; size < 700; ++size)
    for (const uint32_t before : {0u, 1u, 0xdeadbeefu}) {
      const std::string_view range(bytes.data() + size % 17, size);
      EXPECT_EQ(crc32(as_bytes(range), before),
                ::crc32(before, reinterpret_cast<const Bytef*>(range.data()), size))
          << size;
    }
}

TEST(Crc32, ContinuesFromThatOfTheBytesBefore) {
  const std::string text(300, 'k');
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926);  // CRC-32's standard check value
  EXPECT_EQ(crc32(as_bytes(text), crc32(as_bytes(text))), crc32(as_bytes(text + text)));
}

}  // namespace
}  // namespace keratin::files
