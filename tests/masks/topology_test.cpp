// Compares the order of layers, ops, calls and weights of random graphs with Keras's.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/topology.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

Json names_of(const std::vector<LayerPtr>& layers) {
  Json names = Json::array();
  for (const LayerPtr& layer : layers) names.push_back(layer->name());
  return names;
}

Json by_depth(const Topology& topology) {
  Json::Array depths;
  for (size_t i = 0; i < topology.nodes.size(); ++i) {
    if (i == 0 || topology.depths[i] != topology.depths[i - 1]) depths.push_back(Json::array());
    depths.back().push_back(topology.nodes[i]->layer()->name());
  }
  return depths;
}

// Keras also numbers calls outside of the model, so only the order of layers is compared.
Json without_numbers(const Json& depths) {
  Json out = Json::array();
  for (const Json& depth : depths.as_array()) {
    Json names = Json::array();
    for (const Json& node : depth.as_array()) names.push_back(node[0]);
    out.push_back(names);
  }
  return out;
}

TEST(Topology, HasKerassOrder) {
  const auto handler = set_warning_handler({});
  for (const Json& test : testing::read_golden("topology.json").as_array()) {
    SCOPED_TRACE(test.at("name").as_string());
    clear_session();
    const Model model(layer_from_json(test.at("config")));
    EXPECT_EQ(names_of(model.layers()).dump(), test.at("layers").dump());
    EXPECT_EQ(names_of(model.graph().operations()).dump(), test.at("operations").dump());
    EXPECT_EQ(by_depth(model.graph().topology()).dump(),
              without_numbers(test.at("nodes_by_depth")).dump());
    Json paths = Json::array();
    for (const Variable& v : model.weights()) paths.push_back(v.path());
    EXPECT_EQ(paths.dump(), test.at("weights").dump());
  }
  set_warning_handler(handler);
}

}  // namespace
}  // namespace keratin
