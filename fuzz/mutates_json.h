#pragma once

#include "fuzz/json_mutator.h"

// Mutates a target's inputs as JSON, and combines two inputs by moving values of one into the
// other.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return keratin::fuzz::JsonMutator(seed).run(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_size, unsigned seed) {
  using keratin::fuzz::JsonMutator;
  const std::string crossed =
      JsonMutator(seed).run({reinterpret_cast<const char*>(first), first_size},
                            {reinterpret_cast<const char*>(second), second_size});
  return JsonMutator::copy_out(crossed, out, max_size) ? crossed.size() : 0;
}
