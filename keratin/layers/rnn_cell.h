#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

// One step of a recurrent layer. A cell is called with the input of a step and the states, and
// returns [output, new states], the states in the structure in which it got them. Your own cell
// derives from LayerOf<YourCell, YourConfig, RnnCell> and overrides state_shapes.
class KERATIN_API RnnCell : public Layer {
 public:
  // The shape of the state without the batch, or a list of them.
  virtual Tree<Shape> state_shapes() const = 0;
  // The shape of the output: the first state's, unless overridden.
  virtual Shape output_shape() const;

  // The states at the start of a sequence: zeros, unless overridden. The first axis of `like` is
  // the batch.
  virtual Results initial_states(const Call& c, Value like) const;
  // Random values that all steps of a sequence share, given the shape of a step's input without the
  // batch. Each step gets them as the argument "drawn".
  virtual Tree<Traced> draw(const Call& c, Value like, const Shape& features) const;

  std::vector<std::string_view> argument_names() const override { return {"inputs", "states"}; }

 protected:
  using Layer::Layer;
  // The states of a call in order; an error if their number is wrong.
  Values states(const Call& c) const;
  // The results of a call: the output, and the states in the structure in which they came.
  static Results stepped(const Call& c, Value output, const Values& states);
};

// The fields of Keras's cells, and of the layers over them.
template <class C>
struct CellKernelFields {
  static constexpr auto fields = field_list(
      field("use_bias", &C::use_bias), field("kernel_initializer", &C::kernel_initializer),
      field("recurrent_initializer", &C::recurrent_initializer),
      field("bias_initializer", &C::bias_initializer));
};
template <class C>
struct CellTrainingFields {
  static constexpr auto fields =
      field_list(field("kernel_regularizer", &C::kernel_regularizer),
                 field("recurrent_regularizer", &C::recurrent_regularizer),
                 field("bias_regularizer", &C::bias_regularizer),
                 field("kernel_constraint", &C::kernel_constraint),
                 field("recurrent_constraint", &C::recurrent_constraint),
                 field("bias_constraint", &C::bias_constraint), field("dropout", &C::dropout),
                 field("recurrent_dropout", &C::recurrent_dropout));
};

// What Keras's cells share: a kernel for the input, one for the state, a bias, and dropout.
// `Config` is the config of one cell.
class KERATIN_API KerasCell : public RnnCell {
 public:
  // [features, gates · units] and [units, gates · units], with spatial axes before in a convolution
  const Variable& kernel() const { return kernel_; }
  const Variable& recurrent() const { return recurrent_; }
  const Variable& bias() const { return bias_; }

 protected:
  using RnnCell::RnnCell;

  // Refuses bad units, then `check_dropout`.
  template <class Config>
  void check_config(Config& config);
  // Moves the rates of dropout into [0, 1], and adds the seed of dropout.
  template <class Config>
  void check_dropout(Config& config);
  template <class Config>
  void build_kernels(const Config& config, const Shape& step, int64_t gates);
  // Kernels of any shapes.
  template <class Config>
  void add_kernels(const Config& config, const Shape& kernel, const Shape& recurrent);
  template <class Config>
  void build_bias(const Config& config, const Shape& shape, const Initializer& initializer);
  const Variable& seed() const { return seed_; }

 private:
  Variable kernel_, recurrent_, bias_, seed_;
};

using CellPtr = std::shared_ptr<RnnCell>;
namespace detail {

// The cell that a config holds; an error if it is not a cell.
KERATIN_API CellPtr as_cell(const LayerPtr& layer, std::string_view who);

// [batch of `like`, …shape], filled with a number; the batch may be unknown.
KERATIN_API Value filled_for(Value like, const Shape& shape, DType dtype, double value);

}  // namespace detail

struct KERATIN_API StackedRNNCellsConfig {
  std::vector<LayerPtr> cells = {};

  static constexpr std::string_view keras_name = "StackedRNNCells";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr auto fields = field_list(field("cells", &StackedRNNCellsConfig::cells));
};

// Several cells as one cell: the output of each is the input of the next. The state is the list of
// their states.
class KERATIN_API StackedRNNCellsLayer final
    : public LayerOf<StackedRNNCellsLayer, StackedRNNCellsConfig, RnnCell> {
 public:
  StackedRNNCellsLayer(StackedRNNCellsConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Shape output_shape() const override;
  Results initial_states(const Call& c, Value like) const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

  const std::vector<CellPtr>& cells() const { return cells_; }

 private:
  std::vector<CellPtr> cells_;
};

using StackedRNNCells = Shared<StackedRNNCellsLayer>;

}  // namespace keratin
