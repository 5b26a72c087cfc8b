#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "keratin/backend/cuda/driver/nvrtc.h"
#include "keratin/backend/cuda/kernels.h"
#include "keratin/ir/module.h"

// The sources of kernels, compiled for two chips wherever there is an NVRTC: no GPU is needed.
namespace keratin::cuda {

inline bool runs_op(const CudaKernel& kernel, const OpDef& op) {
  return kernel.ops[0] == nullptr ||
         std::find(kernel.ops.begin(), kernel.ops.end(), &op) != kernel.ops.end();
}

// The best kernel with a source that runs the node; nullptr for a node that has none.
inline const CudaKernel* source_kernel_of(const Node& node) {
  for (const CudaKernel* kernel : kernels())
    if (kernel->write != nullptr && runs_op(*kernel, node.op()) &&
        (kernel->refuses == nullptr || !kernel->refuses(node)))
      return kernel;
  return nullptr;
}

inline Source source_of(const Node& node, const KernelOptions& options = {.tf32 = false}) {
  return source_kernel_of(node)->write(node, options);
}

// The source code of all nodes of a program that have a kernel with a source.
inline std::vector<std::string> sources_of(const Module& module) {
  std::vector<std::string> sources;
  for (const auto& node : module.block().nodes())
    if (source_kernel_of(*node) != nullptr) sources.push_back(source_of(*node).code);
  return sources;
}

inline int64_t count_sources(const Module& module, const char* with) {
  const std::vector<std::string> sources = sources_of(module);
  return std::count_if(sources.begin(), sources.end(), [&](const std::string& code) {
    return code.find(with) != std::string::npos;
  });
}

inline void expect_compiles(const std::string& code) {
  for (const char* chip : {"sm_80", "sm_90"}) EXPECT_NO_THROW(compile(code, chip)) << code;
}

inline void expect_compiles(const Module& module) {
  for (const std::string& code : sources_of(module)) expect_compiles(code);
}

class CudaSources : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (can_compile(&reason)) return;
    ASSERT_EQ(std::getenv("KERATIN_REQUIRE_NVRTC"), nullptr) << reason;
    GTEST_SKIP() << "no kernel was compiled: " << reason;
  }
};

}  // namespace keratin::cuda
