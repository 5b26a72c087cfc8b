#pragma once

#include <optional>

#include "keratin/backend/cpu/jit/generate.h"
#include "keratin/backend/cpu/jit/interpreter.h"

namespace keratin::cpu {

// A loop over rows and columns that is run block by block, on the block of the arrays that was just
// computed. Allocates nothing when it runs.
class EpilogueLoop {
 public:
  // The program has two dims and one output, which may be the array of an input.
  explicit EpilogueLoop(const LoopProgram& program);

  // `arrays` are those of the inputs, then the output.
  void run(char* const* arrays, int64_t row, int64_t rows, int64_t column, int64_t columns) const;
  // Prefetches what `run` will read beside the first input, which is in the cache. These pieces of
  // rows lie far apart, so the processor does not prefetch them by itself.
  void fetch(char* const* arrays, int64_t row, int64_t rows, int64_t column, int64_t columns) const;
  size_t input_count() const { return nest_.program.inputs.size(); }

 private:
  LoopNest nest_;
  std::vector<int64_t> row_strides_;
  GeneratedCode code_;
  std::optional<Interpreter> interpreter_;  // where no code is generated
};

}  // namespace keratin::cpu
