#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that merge a list of tensors into one.
namespace keratin {

namespace detail {

// The inputs of a merge, brought to one rank and dtype, with their masks.
struct MergeInputs {
  Values values;
  Masks masks;
};

}  // namespace detail

// The elementwise merges: the name and the arithmetic of each.
struct KERATIN_API AddRule {
  static constexpr std::string_view keras_name = "Add";
  static Value merge(const detail::MergeInputs& inputs);
};
struct KERATIN_API SubtractRule {
  static constexpr std::string_view keras_name = "Subtract";
  static constexpr size_t count = 2;
  static Value merge(const detail::MergeInputs& inputs);
};
struct KERATIN_API MultiplyRule {
  static constexpr std::string_view keras_name = "Multiply";
  static Value merge(const detail::MergeInputs& inputs);  // masked elements count as 1
};
struct KERATIN_API AverageRule {
  static constexpr std::string_view keras_name = "Average";
  static Value merge(const detail::MergeInputs& inputs);
};
struct KERATIN_API MaximumRule {
  static constexpr std::string_view keras_name = "Maximum";
  static Value merge(const detail::MergeInputs& inputs);  // of the elements that are not masked
};
struct KERATIN_API MinimumRule {
  static constexpr std::string_view keras_name = "Minimum";
  static Value merge(const detail::MergeInputs& inputs);
};

template <class Rule>
struct KERATIN_API MergeConfig {
  static constexpr std::string_view keras_name = Rule::keras_name;
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list();
};

namespace detail {

// The code that does not depend on the rule.
KERATIN_API void check_merge(std::string_view who, const Shapes& inputs);
KERATIN_API void check_count(std::string_view who, const Shapes& inputs, size_t count);
KERATIN_API MergeInputs merge_inputs(const Call& c);
// Keras 2: masked where any input is. Keras 3: masked where all are, and only if all have masks.
KERATIN_API std::optional<Value> merge_masks(const Call& c);

}  // namespace detail

// Merges tensors of one shape, element by element. Sizes of 1 are broadcast; inputs of lower rank
// get new axes after the batch.
template <class Rule>
class KERATIN_API MergeLayer final : public LayerOf<MergeLayer<Rule>, MergeConfig<Rule>> {
 public:
  MergeLayer(MergeConfig<Rule> config, LayerOptions options)
      : LayerOf<MergeLayer, MergeConfig<Rule>>(config, std::move(options)) {}

  void build(const Shapes& inputs) override {
    if constexpr (requires { Rule::count; })
      detail::check_count(Rule::keras_name, inputs, Rule::count);
    detail::check_merge(this->class_name(), inputs);
  }
  Results call(const Call& c) const override { return Rule::merge(detail::merge_inputs(c)); }
  Masks compute_mask(const Call& c, size_t) const override { return {detail::merge_masks(c)}; }
  bool supports_masking() const override { return true; }
};

struct KERATIN_API ConcatenateConfig {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "Concatenate";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("axis", &ConcatenateConfig::axis));
};

// Joins the inputs along an axis; all other sizes must be equal.
class KERATIN_API ConcatenateLayer final : public LayerOf<ConcatenateLayer, ConcatenateConfig> {
 public:
  ConcatenateLayer(ConcatenateConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  // The masks, joined like the inputs; a step counts if any feature (Keras 2: every one) does.
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }
};

struct KERATIN_API DotConfig {
  Sizes axes = -1;         // one for both inputs, or one for each
  bool normalize = false;  // divide the inputs by their lengths along the axes: cosine similarity

  static constexpr std::string_view keras_name = "Dot";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("axes", &DotConfig::axes), field("normalize", &DotConfig::normalize));
};

// Sums of products over one axis of each of two inputs, sample by sample. The result has the other
// axes of the first input, then those of the second without the batch; at least one.
class KERATIN_API DotLayer final : public LayerOf<DotLayer, DotConfig> {
 public:
  DotLayer(DotConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool supports_masking() const override { return true; }

 private:
  // The axes that are summed over, not negative.
  std::pair<int64_t, int64_t> axes_for(const Shape& a, const Shape& b) const;
};

using Add = Shared<MergeLayer<AddRule>>;
using Subtract = Shared<MergeLayer<SubtractRule>>;
using Multiply = Shared<MergeLayer<MultiplyRule>>;
using Average = Shared<MergeLayer<AverageRule>>;
using Maximum = Shared<MergeLayer<MaximumRule>>;
using Minimum = Shared<MergeLayer<MinimumRule>>;
using Concatenate = Shared<ConcatenateLayer>;
using Dot = Shared<DotLayer>;

// Keras's layers.add and the like: they make the layer and call it.
namespace layers {

KERATIN_API SymbolicTensor add(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor subtract(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor multiply(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor average(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor maximum(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor minimum(const Symbols& inputs, LayerOptions options = {});
KERATIN_API SymbolicTensor concatenate(const Symbols& inputs, int64_t axis = -1,
                                       LayerOptions options = {});
KERATIN_API SymbolicTensor dot(const Symbols& inputs, DotConfig config = {},
                               LayerOptions options = {});

}  // namespace layers
}  // namespace keratin
