#include "keratin/ops/region.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// The depth of the innermost body being written on this thread. An op goes to the deepest block of
// its inputs, so a new body must be deeper than all values that it can use.
thread_local size_t open_depth = 0;

class OpenDepth {
 public:
  explicit OpenDepth(size_t depth) : before_(open_depth) { open_depth = depth; }
  ~OpenDepth() { open_depth = before_; }
  OpenDepth(const OpenDepth&) = delete;
  OpenDepth& operator=(const OpenDepth&) = delete;

 private:
  size_t before_;
};

size_t deepest(const Values& values) {
  size_t depth = 0;
  for (const Value& value : values)
    if (value.defined()) depth = std::max(depth, value.block().depth());
  return depth;
}

}  // namespace

std::unique_ptr<Block> write_region(const Types& parameters, const Values& near,
                                    const RegionBody& body) {
  const size_t depth = std::max(open_depth, deepest(near)) + 1;
  auto region = std::make_unique<Block>(depth);
  for (const Type& type : parameters) region->parameter(type);
  const OpenDepth open(depth);
  region->results = body(region->parameter_values());
  return region;
}

Node& emit_with_regions(const OpDef& op, Values inputs, Attrs attrs,
                        std::vector<std::unique_ptr<Block>> regions) {
  Values outside;
  for (const auto& region : regions)
    for (const Value& value : region->outside_values())
      if (std::find(outside.begin(), outside.end(), value) == outside.end())
        outside.push_back(value);
  for (const auto& region : regions) region->close(outside);
  inputs.insert(inputs.end(), outside.begin(), outside.end());
  const size_t depth = deepest(inputs) + 1;
  for (auto& region : regions)
    if (region->depth() != depth) region = clone_block(*region, depth);
  return emit_node(op, inputs, std::move(attrs), std::move(regions));
}

void require_parameters(const Block& region, const Types& types, std::string_view who) {
  const auto& parameters = region.parameters();
  require(parameters.size() == types.size(), who, ": the region takes ", parameters.size(),
          " values, expected ", types.size());
  for (size_t i = 0; i < types.size(); ++i)
    require(parameters[i]->type().dtype == types[i].dtype &&
                parameters[i]->type().shape == types[i].shape,
            who, ": parameter ", i, " of the region is ", parameters[i]->type(), ", it gets ",
            types[i]);
}

bool unify(Type& type, const Type& other) {
  if (type.dtype != other.dtype || !compatible(type.shape, other.shape)) return false;
  Dims dims = type.shape.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] == unknown) dims[axis] = other.shape[static_cast<int64_t>(axis)];
  type.shape = Shape(dims);
  return true;
}

Types types_of(const Values& values) {
  Types types;
  for (const Value& value : values) types.push_back(value.type());
  return types;
}

}  // namespace keratin::ops
