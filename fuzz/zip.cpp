#include "keratin/files/zip.h"
#include "fuzz/file.h"

// Any bytes give a zip or a UserError. Reading an entry gives the whole entry or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  try {
    const files::ZipReader zip(fuzz::file_of(data, size), {.unpacked = 1 << 20});
    for (const files::ZipEntry& entry : zip.entries()) {
      try {
        if (zip.read(entry).size() != entry.size) std::abort();
      } catch (const UserError&) {
      }
    }
  } catch (const UserError&) {
  }
  return 0;
}
