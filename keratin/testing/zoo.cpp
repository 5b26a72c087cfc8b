#include "keratin/testing/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "keratin/base/warning.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/golden_layers.h"

namespace keratin::testing {

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  const std::filesystem::path folder(std::string(KERATIN_SOURCE_DIR) + "/tests/golden/models");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

ZooModel load_zoo_model(const std::string& name) {
  const Json record = read_golden("models/" + name + ".json");
  const bool keras2 = name.ends_with(".keras2");
  clear_session();
  const auto handler = set_warning_handler({});
  const Dialect dialect = keras2 ? Dialect::keras2 : Dialect::keras3;
  const LayerPtr layer =
      layer_from_json(record.at("config"), golden_layers(record.at("lambdas")), dialect);
  set_warning_handler(handler);
  ZooModel zoo{name, record, Model(layer), golden_structure(record.at("inputs")), keras2};
  if (!layer->built()) {
    Shapes shapes;
    zoo.inputs.each([&](const Tensor& t) { shapes.push_back(t.shape()); });
    layer->ensure_built(shapes);
  }
  std::vector<Tensor> weights;
  for (const Json& weight : record.at("weights").as_array())
    weights.push_back(golden_tensor(weight));
  zoo.model.set_weights(weights);
  return zoo;
}

void expect_same_result(const RunResult& got, const RunResult& expected, const std::string& what) {
  EXPECT_EQ(got.outputs.outline(), expected.outputs.outline()) << what;
  const auto ours = got.outputs.flat(), theirs = expected.outputs.flat();
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i], theirs[i]) << what << ", output " << i;
    EXPECT_EQ(got.masks[i].has_value(), expected.masks[i].has_value()) << what << ", mask " << i;
    EXPECT_TRUE(!got.masks[i] || !expected.masks[i] || *got.masks[i] == *expected.masks[i])
        << what << ", mask " << i;
  }
}

}  // namespace keratin::testing
