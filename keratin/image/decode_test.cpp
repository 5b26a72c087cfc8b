#include "keratin/image/decode.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

// Tests of hostile files, which end early, are damaged or claim to be huge. The pixels of sound
// files are compared with TensorFlow's in keratin/data/images_test.cpp.
namespace keratin::image {
namespace {

std::string bytes_of(const std::string& name) {
  std::ifstream file(testing::golden_path("images/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<std::string> names = {
    "cats/rgb.jpg",     "cats/progressive.jpeg", "cats/inks.jpg", "cats/young/interlaced.png",
    "dogs/rgba.png",    "dogs/see_through.png",  "emus/rgb.bmp",  "emus/palette.bmp_",
    "emus/palette.gif", "emus/interlaced.gif"};

TEST(Decode, RefusesEveryFileThatEndsEarly) {
  for (const std::string& name : names) {
    const std::string whole = bytes_of(name);
    decode(files::as_bytes(whole), name);
    for (size_t size = 0; size < whole.size(); ++size)
      testing::expect_user_error(
          [&] { decode(files::as_bytes(std::string_view(whole).substr(0, size)), name); }, name);
  }
}

TEST(Decode, SurvivesDamage) {
  std::mt19937 random(1);
  for (const std::string& name : names) {
    const std::string whole = bytes_of(name);
    for (int i = 0; i < 300; ++i) {
      std::string damaged = whole;
      for (uint32_t n = random() % 4 + 1; n > 0; --n)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      try {
        decode(files::as_bytes(damaged), name, {.max_pixels = 1 << 20});
      } catch (const UserError&) {
      }
    }
  }
}

// Writes a size into the header at `at`, and expects the image to be refused as too large.
void expect_too_large(const std::string& name, size_t at, const std::string& size) {
  std::string bytes = bytes_of(name);
  bytes.replace(at, size.size(), size);
  testing::expect_user_error([&] { decode(files::as_bytes(bytes), name); }, {name, "too large"});
}

TEST(Decode, RefusesHugeImagesBeforeAllocatingThem) {
  using namespace std::string_literals;
  expect_too_large("emus/rgb.bmp", 18, "\xff\xff\xff\x7f\xff\xff\xff\x7f"s);
  expect_too_large("emus/palette.gif", bytes_of("emus/palette.gif").find(","s + "\0\0\0\0"s) + 5,
                   "\xff\xff\xff\xff"s);
  const std::string jpeg = bytes_of("cats/rgb.jpg");
  expect_too_large("cats/rgb.jpg", jpeg.find("\xff\xc0"s) + 5, "\xff\xdc\xff\xdc"s);
  testing::expect_user_error(
      [] { decode(files::as_bytes(bytes_of("dogs/gray.png")), "small", {.max_pixels = 100}); },
      {"small", "at most 100 pixels, got 12 x 12"});
}

TEST(Decode, RefusesUnknownFormatsAndChannelCounts) {
  testing::expect_user_error([] { decode({}, "x", {.channels = 2}); }, "1, 3 or 4 channels");
  testing::expect_user_error([] { decode({}, "x"); }, "x: expected a JPEG");
}

}  // namespace
}  // namespace keratin::image
