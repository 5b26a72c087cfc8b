#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/backend/cuda/driver/nvrtc.h"

namespace keratin::cuda {

// A stream of a simulated GPU, and 64 numbers in memory that it shares with the host.
class SimulatedGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(d.init(0), 0);
    ContextHandle context = nullptr;
    ASSERT_EQ(d.retain_context(&context, 0), 0);
    ASSERT_EQ(d.set_context(context), 0);
    ASSERT_EQ(d.create_stream(&stream, Driver::stream_non_blocking), 0);
    ASSERT_EQ(d.allocate_host(&memory, 64 * sizeof(float), Driver::host_portable_and_mapped), 0);
    numbers = static_cast<float*>(memory);
    std::fill_n(numbers, 64, 0.0F);
  }
  void TearDown() override {
    d.destroy_stream(stream);
    d.free_host(memory);
  }

  // extern "C" __global__ void kernel(float* out) { body }
  FunctionHandle function(const std::string& body, const std::string& before = "",
                          const std::string& traits = "") const {
    const std::string code = compile(before + "extern \"C\" __global__ void " + traits +
                                         "kernel(float* out) {\n" + body + "\n}\n",
                                     "sm_90");
    ModuleHandle module = nullptr;
    FunctionHandle made = nullptr;
    EXPECT_EQ(d.load_module(&module, code.data()), 0);
    EXPECT_EQ(d.module_function(&made, module, "kernel"), 0);
    return made;
  }

  Result launch(FunctionHandle kernel, unsigned threads = 64, unsigned shared_bytes = 0,
                unsigned blocks = 1) const {
    const LaunchConfig config{
        .grid_x = blocks, .block_x = threads, .shared_bytes = shared_bytes, .stream = stream};
    float* out = numbers;
    void* arguments[] = {&out};
    return d.launch(&config, kernel, arguments, nullptr);
  }

  // What 64 threads make of it.
  std::vector<float> results(FunctionHandle kernel, unsigned shared_bytes = 0) {
    EXPECT_EQ(launch(kernel, 64, shared_bytes), 0);
    EXPECT_EQ(d.synchronize(stream), 0);
    return {numbers, numbers + 64};
  }

  std::vector<float> counted(float first, float step) const {
    std::vector<float> all(64);
    for (size_t i = 0; i < 64; ++i) all[i] = first + step * static_cast<float>(i);
    return all;
  }

  const Driver& d = driver();
  StreamHandle stream = nullptr;
  void* memory = nullptr;
  float* numbers = nullptr;
};

}  // namespace keratin::cuda
