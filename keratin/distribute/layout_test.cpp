#include "keratin/distribute/layout.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"

namespace keratin::distribute {
namespace {

class Layouts : public ::testing::Test {
 protected:
  Layouts() { set_logical_devices("cpu", 4); }
  ~Layouts() override { set_logical_devices("cpu", 1); }

  static DeviceMesh mesh() {
    return DeviceMesh({.shape = {2, 2}, .axis_names = {"batch", "model"}});
  }
};

TEST_F(Layouts, AMeshIsAGridOfDevices) {
  const DeviceMesh grid = mesh();
  EXPECT_EQ(list_devices(), (std::vector<std::string>{"cpu:0", "cpu:1", "cpu:2", "cpu:3"}));
  EXPECT_EQ(grid.devices().size(), 4u);
  EXPECT_EQ(grid.size_of("model"), 2);
  EXPECT_EQ(text(grid.along("batch")[1]), "cpu:2");
  EXPECT_EQ(text(grid.along("model")[1]), "cpu:1");
  EXPECT_EQ(text(grid.at({1, 0})), "cpu:2");
  EXPECT_EQ(grid.position_of(Device("cpu:2")), (Dims{1, 0}));
  EXPECT_EQ(grid.position_of(Device("gpu:0")), std::nullopt);
  EXPECT_EQ(text(grid), "<DeviceMesh shape=(2, 2), axis_names=('batch', 'model')>");
}

TEST_F(Layouts, DevicesAreListedByType) {
  EXPECT_EQ(list_devices("CPU"), list_devices("cpu"));
  EXPECT_EQ(get_device_count("cpu"), 4);
  set_logical_devices("gpu", 2);  // where there are GPUs, they are meant
  EXPECT_EQ(list_devices(), (std::vector<std::string>{"gpu:0", "gpu:1"}));
  EXPECT_EQ(list_devices("GPU"), list_devices());
  EXPECT_EQ(get_device_count(), 2);
  EXPECT_EQ(list_devices("cpu").size(), 4U);
  set_logical_devices("gpu", 0);
  EXPECT_EQ(get_device_count("gpu"), 0);
}

TEST_F(Layouts, AMeshRefusesBadShapes) {
  const auto refuses = [](const DeviceMeshOptions& options, const char* message) {
    testing::expect_user_error([&] { DeviceMesh{options}; }, message);
  };
  refuses({.shape = {}, .axis_names = {"a"}},
          "Shape and axis_names cannot be empty. Received: shape=(), axis_names=('a',)");
  refuses(
      {.shape = {4}, .axis_names = {"a", "b"}},
      "Shape and axis_names should have same size. Received: shape=(4,), axis_names=('a', 'b')");
  refuses({.shape = {3}, .axis_names = {"a"}},
          "Shape does not match the number of devices. Received: shape=(3,); devices.shape=(4,)");
  refuses({.shape = {1}, .axis_names = {"a"}, .devices = {"gpu:7"}},
          "DeviceMesh: there is no device 'gpu:7'; there are 4, the last is cpu:3");
  refuses({.shape = {2}, .axis_names = {"a"}, .devices = {"cpu:1", "cpu:1"}},
          "DeviceMesh: the device 'cpu:1' is listed twice");
  refuses({.shape = {2, 2}, .axis_names = {"a", "a"}},
          "The axis_names of a DeviceMesh must differ");
  testing::expect_user_error([&] { mesh().size_of("data"); },
                             "the mesh has the axes ('batch', 'model'), not 'data'");
  testing::expect_user_error([] { list_devices("tpu"); }, "must be 'cpu' or 'gpu', got 'tpu'");
}

TEST_F(Layouts, ALayoutNamesAxesOfItsMesh) {
  TensorLayout layout({std::nullopt, "model"});
  EXPECT_EQ(text(layout), "<TensorLayout axes=(None, 'model'), device_mesh=None>");
  layout.set_device_mesh(mesh());
  testing::expect_user_error([&] { layout.set_device_mesh(mesh()); },
                             "Cannot override device mesh value. Existing value is <DeviceMesh");
  testing::expect_user_error(
      [&] {
        TensorLayout({"data", std::nullopt}, mesh());
      },
      "Invalid axis names for Layout. Valid axis names: {'batch', 'model'}, Got {'data'}");
}

TEST_F(Layouts, AMapFindsByPathOrExpression) {
  LayoutMap map(mesh());
  const TensorLayout kernels({std::nullopt, "model"}, mesh()), biases({"model"}, mesh());
  map.set(".*dense.*kernel", {std::nullopt, "model"});
  map.set("dense_1/bias", {"model"});
  EXPECT_EQ(map.find("my_model/dense_7/kernel"), kernels);
  EXPECT_EQ(map.find("dense_1/bias"), biases);
  EXPECT_EQ(map.find("a/dense_1/bias"), std::nullopt) << "an expression matches the whole path";
  map.set(".*_1/kernel", {"model", std::nullopt});
  testing::expect_user_error(
      [&] { map.find("dense_1/kernel"); },
      "Path 'dense_1/kernel' matches multiple layout specification keys: ['.*dense.*kernel', "
      "'.*_1/kernel']. Please make sure each tensor/variable path only matches at most one layout "
      "specification key in the LayoutMap.");
  map.set("dense_1/kernel", {"batch", std::nullopt});
  EXPECT_EQ(map.find("dense_1/kernel")->axes()[0], "batch") << "an equal key comes first";
  testing::expect_user_error(
      [&] { map.set("dense_1/bias", {"model"}); },
      "dense_1/bias already exist in the LayoutMap with value <TensorLayout");
  testing::expect_user_error([&] { map.set("(", {"model"}); },
                             "the key '(' is no regular expression");
  testing::expect_user_error([&] { map.erase("conv"); }, "LayoutMap: there is no key 'conv'");
  map.erase("dense_1/kernel");
  EXPECT_EQ(map.keys(),
            (std::vector<std::string>{".*dense.*kernel", "dense_1/bias", ".*_1/kernel"}));
}

}  // namespace
}  // namespace keratin::distribute
