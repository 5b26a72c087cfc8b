#include "keratin/files/safetensors.h"
#include "fuzz/file.h"

// Any bytes give a safetensors file or a UserError. Every byte of its tensors can be read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  try {
    for (const auto& [name, tensor] : files::read_safetensors(fuzz::file_of(data, size)).tensors)
      tensor.hash();
  } catch (const UserError&) {
  }
  return 0;
}
