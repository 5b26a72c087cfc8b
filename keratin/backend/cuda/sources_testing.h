#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "keratin/backend/cuda/driver/nvrtc.h"
#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/kernels.h"
#include "keratin/ir/module.h"

// The kernels' text, compiled for two chips wherever there is an NVRTC: no GPU is needed.
namespace keratin::cuda {

// The texts of all nodes of a program that are run as they are.
inline std::vector<std::string> texts_of(const Module& module) {
  std::vector<std::string> texts;
  for (const auto& node : module.block().nodes())
    if (const TextMaker maker = find_text(*node)) texts.push_back(maker(*node).text);
  return texts;
}

inline int64_t count_texts(const Module& module, const char* with) {
  const std::vector<std::string> texts = texts_of(module);
  return std::count_if(texts.begin(), texts.end(), [&](const std::string& text) {
    return text.find(with) != std::string::npos;
  });
}

inline void expect_compiles(const std::string& text) {
  for (const char* chip : {"sm_80", "sm_90"}) EXPECT_NO_THROW(compile(text, chip)) << text;
}

inline void expect_compiles(const Module& module) {
  for (const std::string& text : texts_of(module)) expect_compiles(text);
}

class CudaTexts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (can_compile(&reason)) return;
    ASSERT_EQ(std::getenv("KERATIN_REQUIRE_NVRTC"), nullptr) << reason;
    GTEST_SKIP() << "no kernel was compiled: " << reason;
  }
};

}  // namespace keratin::cuda
