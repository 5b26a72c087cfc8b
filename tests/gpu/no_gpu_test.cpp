#include <gtest/gtest.h>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/engine/compile.h"
#include "keratin/ir/module.h"
#include "keratin/ops/ops.h"

namespace keratin::testing {
namespace {

// Compiling for a missing GPU reports why there is none.
TEST(WithoutAGpu, CompileReportsTheReason) {
  if (cuda::device_count() > 0) GTEST_SKIP() << "there is a GPU";
  Module m;
  m.output(ops::relu(m.input({DType::f32, {2}})));
  try {
    compile(std::move(m), {.backend = "cuda"});
    FAIL() << "expected a BackendError";
  } catch (const BackendError& error) {
    EXPECT_EQ(std::string(error.what()),
              "compile: the backend 'cuda' finds no GPU: " + cuda::why_no_device());
  }
  EXPECT_FALSE(cuda::why_no_device().empty());
}

}  // namespace
}  // namespace keratin::testing
