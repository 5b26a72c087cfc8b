#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn_cell.h"

namespace keratin {

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
