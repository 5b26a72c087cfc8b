#include "keratin/engine/plot_plan.h"

#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/engine/devices.h"
#include "keratin/ir/module.h"
#include "keratin/ir/node.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(PlotPlan, HasAColumnPerDeviceAndABoxPerStep) {
  set_logical_devices("gpu", 2);
  Module module;
  const Value x = module.input({DType::f32, {8, 8}, Device("gpu:0")}, "x");
  const OriginScope origin(std::make_shared<const std::string>("a<b&c"));
  const Value there = ops::transfer(ops::matmul(x, x), Device("gpu:1"));
  module.output(ops::matmul(there, there));
  const Executable program = compile(std::move(module), {.backend = "reference"});
  const std::string svg = plan_to_svg(program);
  for (const char* words : {"<svg xmlns=", ">gpu:0: 1 steps, ", ">gpu:1: 2 steps, ",
                            ">a&lt;b&amp;c: from gpu:0, 256 bytes<", "</svg>\n"})
    EXPECT_EQ(count(svg, words), 1U) << words << "\nin\n" << svg;
  EXPECT_EQ(count(svg, ">a&lt;b&amp;c: reference matmul<"), 2U) << svg;
  EXPECT_EQ(count(svg, "rx=\"3\""), 3U) << "a box per step\n" << svg;
  EXPECT_EQ(count(svg, "<line "), 1U) << "gpu:1 waits once\n" << svg;
  EXPECT_EQ(count(svg, "a<b"), 0U) << svg;
  set_logical_devices("gpu", 0);
}

}  // namespace
}  // namespace keratin
