#include "keratin/distribute/model_parallel.h"
#include "keratin/base/text.h"
#include "keratin/graph/variable.h"

namespace keratin::distribute {
namespace {

const LayoutMap& map_of(const ModelParallelOptions& options) {
  require(options.layout_map.has_value(), "You must specify a layout_map argument.");
  return *options.layout_map;
}

std::string batch_axis(const ModelParallelOptions& options) {
  const std::string& given = options.batch_dim_name;
  return given.empty() ? map_of(options).device_mesh().axis_names()[0] : given;
}

}  // namespace

ModelParallel::ModelParallel(const ModelParallelOptions& options)
    : Distribution(map_of(options).device_mesh(), batch_axis(options), options.auto_shard_dataset),
      layout_map_(map_of(options)) {}

TensorLayout ModelParallel::get_variable_layout(const Variable& variable) const {
  if (const auto layout = layout_map_.find(variable.path())) return *layout;
  return Distribution::get_variable_layout(variable);
}

std::optional<TensorLayout> ModelParallel::get_tensor_layout(const std::string& path) const {
  return layout_map_.find(path);
}

std::shared_ptr<const Distribution> ModelParallel::shared() const {
  return std::make_shared<ModelParallel>(*this);
}

}  // namespace keratin::distribute
