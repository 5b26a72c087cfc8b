#include "keratin/files/compression.h"
#include "keratin/base/text.h"

#include <zlib.h>

#include <algorithm>

namespace keratin::files {
namespace {

constexpr size_t max_call = size_t{1} << 30;  // bytes per call: zlib counts in 32 bits

struct Stream {
  z_stream z{};
  explicit Stream(int window_bits) {
    ensure(inflateInit2(&z, window_bits) == Z_OK, "zlib cannot start");
  }
  ~Stream() { inflateEnd(&z); }
};

}  // namespace

bool inflate_into(Bytes packed, std::span<std::byte> out, Deflated form) {
  Stream stream(form == Deflated::raw ? -MAX_WBITS : MAX_WBITS);
  z_stream& z = stream.z;
  std::byte spare{};  // zlib refuses a null output pointer, even for no bytes
  if (out.empty()) out = {&spare, 0};
  size_t in_done = 0, out_done = 0;
  while (true) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in_done));
    z.avail_in = static_cast<uInt>(std::min(max_call, packed.size() - in_done));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + out_done);
    z.avail_out = static_cast<uInt>(std::min(max_call, out.size() - out_done));
    const size_t in_before = z.avail_in, out_before = z.avail_out;
    const int state = inflate(&z, Z_NO_FLUSH);
    in_done += in_before - z.avail_in;
    out_done += out_before - z.avail_out;
    if (state == Z_STREAM_END) return in_done == packed.size() && out_done == out.size();
    if (state != Z_OK) return false;
  }
}

}  // namespace keratin::files
