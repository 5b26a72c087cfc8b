#include "keratin/base/text.h"
#include "keratin/layers/rnn_cell.h"

namespace keratin {

StackedRNNCellsLayer::StackedRNNCellsLayer(StackedRNNCellsConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(!cfg.cells.empty(), "StackedRNNCells: expected at least one cell, got none");
  for (const LayerPtr& layer : cfg.cells) {
    cells_.push_back(detail::as_cell(layer, "StackedRNNCells"));
    add_sublayer("cells", layer, true);
  }
}

Tree<Shape> StackedRNNCellsLayer::state_shapes() const {
  Tree<Shape>::List shapes;
  for (const CellPtr& cell : cells_) shapes.push_back(cell->state_shapes());
  return shapes;
}

Shape StackedRNNCellsLayer::output_shape() const { return cells_.back()->output_shape(); }

Results StackedRNNCellsLayer::initial_states(const Call& c, Value like) const {
  Results::List states;
  for (const CellPtr& cell : cells_) states.push_back(cell->initial_states(c, like));
  return states;
}

Tree<Traced> StackedRNNCellsLayer::draw(const Call& c, Value like, const Shape& features) const {
  Tree<Traced>::List drawn;
  Shape input = features;
  for (const CellPtr& cell : cells_) {
    drawn.push_back(cell->draw(c, like, input));
    input = cell->output_shape();
  }
  return drawn;
}

void StackedRNNCellsLayer::build(const Shapes& inputs) {
  Shape input = inputs[0];
  for (const CellPtr& cell : cells_) {
    cell->ensure_built({input});
    Dims dims = cell->output_shape().dims();
    dims.insert(dims.begin(), input[0]);
    input = Shape(dims);
  }
}

Results StackedRNNCellsLayer::call(const Call& c) const {
  const Tree<Traced>& states = c.argument(1);
  require(states.is_list() && states.list().size() == cells_.size(), "StackedRNNCells '", name(),
          "': expected a list of the states of ", cells_.size(), " cells, got ", states.outline());
  Traced x{c.input()};
  Tree<Traced>::List after;
  for (size_t i = 0; i < cells_.size(); ++i) {
    Arguments<Traced> arguments{{x, states[i]}, {}};
    if (c.has("drawn") && !c.argument("drawn")[i].is_none())
      arguments.named.emplace("drawn", c.argument("drawn")[i]);
    const Tree<Traced> result = c.invoke(*cells_[i], std::move(arguments));
    require(result.is_list() && result.list().size() == 2, cells_[i]->class_name(), " '",
            cells_[i]->name(), "': expected [output, states] from a call, got ", result.outline());
    x = result[0].leaf();
    after.push_back(result[1]);
  }
  const auto value = [](const Traced& t) { return t.value; };
  // Keras gives the states of a single cell without the list around them.
  const Tree<Traced> given = after.size() == 1 ? after[0] : Tree<Traced>(after);
  return Results::List{x.value, given.map<Value>(value)};
}

}  // namespace keratin
