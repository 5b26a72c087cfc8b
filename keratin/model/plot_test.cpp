#include "keratin/model/plot.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "keratin/graph/input.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/merging.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Model plain() {
  const auto x = Input({.shape = {2}, .name = "x"});
  return Model({.inputs = x, .outputs = Dense({.units = 3}, "<d>")(x), .name = "m"});
}

// A model with two branches, one of which is a nested model.
Model nested() {
  const auto inside = Input({.shape = {2}, .name = "inside"});
  const Model inner(
      {.inputs = inside, .outputs = Dense({.units = 2}, "deep")(inside), .name = "inner"});
  const auto x = Input({.shape = {2}, .name = "x"});
  return Model({.inputs = x,
                .outputs = Add({}, "add")({inner(x), Dense({.units = 2}, "flat")(x)}),
                .name = "outer"});
}

size_t count(const std::string& text, const std::string& wanted) {
  size_t found = 0;
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
    ++found;
  return found;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Plot : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                             std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Plot, DrawsBoxesAndArrows) {
  const std::string dot =
      model_to_dot(plain(), {.show_shapes = true, .show_dtype = true, .show_trainable = true});
  EXPECT_EQ(count(dot, "[label="), 2u) << dot;
  EXPECT_EQ(count(dot, " -> "), 1u) << dot;
  EXPECT_NE(dot.find("n0 -> n1;"), std::string::npos) << dot;
  EXPECT_NE(dot.find("Input shape: (None, 2)"), std::string::npos) << dot;
  EXPECT_NE(dot.find("Output shape: (None, 3)"), std::string::npos) << dot;
  EXPECT_NE(dot.find("float32"), std::string::npos) << dot;
  const std::string svg = model_to_svg(plain());
  EXPECT_NE(svg.find("&lt;d&gt; (Dense)"), std::string::npos) << svg;
  EXPECT_EQ(count(svg, "marker-end"), 1u);
  EXPECT_EQ(count(svg, "rx=\"4\""), 2u);
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST_F(Plot, DrawsNestedModelsAsClusters) {
  const std::string closed = model_to_dot(nested());
  EXPECT_EQ(count(closed, "subgraph"), 0u) << closed;
  EXPECT_EQ(count(closed, "[label="), 4u) << closed;
  EXPECT_EQ(count(closed, " -> "), 4u) << closed;
  const std::string open = model_to_dot(nested(), {.expand_nested = true, .rankdir = "LR"});
  EXPECT_EQ(count(open, "subgraph"), 1u) << open;
  EXPECT_NE(open.find("label=\"inner\""), std::string::npos) << open;
  EXPECT_NE(open.find("deep"), std::string::npos) << open;
  EXPECT_NE(open.find("rankdir=LR"), std::string::npos) << open;
  EXPECT_NE(model_to_svg(nested(), {.expand_nested = true}).find("deep"), std::string::npos);
}

TEST_F(Plot, WritesTheFormatOfTheSuffix) {
  plot_model(plain(), path("m.dot"));
  EXPECT_EQ(contents(path("m.dot")), model_to_dot(plain()));
  plot_model(plain(), path("m.svg"));
  EXPECT_EQ(contents(path("m.svg")), model_to_svg(plain()));
  expect_user_error([&] { plot_model(plain(), path("m.gif")); }, ".svg, .dot or .png");
  expect_user_error([&] { plot_model(plain(), path("missing/m.svg")); }, "cannot write");
  expect_user_error([] { model_to_svg(plain(), {.rankdir = "up"}); }, {"rankdir", "'up'"});
  EXPECT_EQ(files(), 2u);
}

TEST_F(Plot, WritesPngWithGraphviz) {
  if (std::system("command -v dot >/dev/null") != 0) GTEST_SKIP() << "Graphviz is not installed";
  for (const Model& model : {plain(), nested()}) {
    plot_model(model, path("m.png"), {.show_shapes = true, .expand_nested = true});
    const std::string png = contents(path("m.png"));
    ASSERT_GT(png.size(), 100u);
    EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_NE(png.find("IEND"), std::string::npos) << "the file is truncated";
  }
  EXPECT_EQ(files(), 1u) << "Graphviz's input was not deleted";
}

TEST_F(Plot, NamesGraphvizIfItIsMissing) {
  const char* given = std::getenv("PATH");
  const std::string before = given == nullptr ? "" : given;
  setenv("PATH", path("nothing_here").c_str(), 1);
  expect_user_error([&] { plot_model(plain(), path("m.png")); },
                    {"`dot` of Graphviz", "not installed"});
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace keratin
