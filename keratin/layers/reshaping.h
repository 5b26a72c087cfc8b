#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that change the shape of each sample. They drop masks.
namespace keratin {

struct KERATIN_API FlattenConfig {
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name = "Flatten";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("data_format", &FlattenConfig::data_format));
};

// [batch, …] to [batch, features]; with channels_first, channels are moved to the end first.
class KERATIN_API FlattenLayer final : public LayerOf<FlattenLayer, FlattenConfig> {
 public:
  FlattenLayer(FlattenConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API ReshapeConfig {
  Dims target_shape = {};  // without the batch; one size may be -1, which is inferred

  static constexpr std::string_view keras_name = "Reshape";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("target_shape", &ReshapeConfig::target_shape));
};

class KERATIN_API ReshapeLayer final : public LayerOf<ReshapeLayer, ReshapeConfig> {
 public:
  ReshapeLayer(ReshapeConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API PermuteConfig {
  Dims dims = {};  // of the axes after the batch, counted from 1

  static constexpr std::string_view keras_name = "Permute";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("dims", &PermuteConfig::dims));
};

// Axis i of the result is axis dims[i - 1] of the input.
class KERATIN_API PermuteLayer final : public LayerOf<PermuteLayer, PermuteConfig> {
 public:
  PermuteLayer(PermuteConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API RepeatVectorConfig {
  int64_t n = 0;

  static constexpr std::string_view keras_name = "RepeatVector";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("n", &RepeatVectorConfig::n));
};

// [batch, features] to [batch, n, features]
class KERATIN_API RepeatVectorLayer final : public LayerOf<RepeatVectorLayer, RepeatVectorConfig> {
 public:
  RepeatVectorLayer(RepeatVectorConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

using Flatten = Shared<FlattenLayer>;
using Reshape = Shared<ReshapeLayer>;
using Permute = Shared<PermuteLayer>;
using RepeatVector = Shared<RepeatVectorLayer>;

}  // namespace keratin
