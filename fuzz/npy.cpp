#include <cstdlib>

#include "fuzz/file.h"
#include "keratin/data/npy.h"

// Any bytes give an array of numbers or strings, or a UserError. What was read can be written, and
// reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  const fuzz::DiskFile file(data, size, ".npy");
  try {
    const Tensor tensor = read_npy(file.path());
    write_npy(file.path(), tensor);
    const Tensor again = read_npy(file.path());
    if (again != tensor) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
