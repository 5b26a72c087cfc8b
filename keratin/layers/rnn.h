#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn_cell.h"

namespace keratin {

// The options of every recurrent layer, see RNNConfig.
struct RecurrentFlags {
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
};
template <class C>
struct RecurrentFields {
  static constexpr auto fields = field_list(
      field("return_sequences", &C::return_sequences), field("return_state", &C::return_state),
      field("go_backwards", &C::go_backwards), field("stateful", &C::stateful),
      field("unroll", &C::unroll), field("zero_output_for_mask", &C::zero_output_for_mask));
};

// The inputs and outputs of a loop over time.
struct RecurrentInputs {
  Value x;         // [batch, time, …]
  Results states;  // a list of [batch, …]
  Value mask;      // bool [batch, time]; undefined: every step counts
};
struct RecurrentOutputs {
  Value all;      // [batch, time, …] in the order of the steps, if sequences are returned
  Value last;     // [batch, …] if they are not
  Values states;  // after the last step
};

// A cell applied to the steps of a sequence in turn.
class KERATIN_API RecurrentLayer : public Layer, public TakesStates {
 public:
  virtual RecurrentFlags flags() const = 0;
  const CellPtr& cell() const { return cell_; }

  // A layer of the same config, with weights of its own, with another name and direction.
  virtual std::shared_ptr<RecurrentLayer> variant(std::string name, bool go_backwards) const = 0;
  virtual void set_zero_output_for_mask(bool zero) = 0;

  // The states that a stateful layer has kept from the last batch; reset_states makes them zeros.
  const std::vector<Variable>& states() const { return states_; }
  void reset_states() const;

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }
  std::vector<std::string_view> call_arguments() const override {
    return {"sequences", "initial_state", "mask", "training"};
  }

 protected:
  using Layer::Layer;
  void set_cell(CellPtr cell);

  // Runs the loop: calls the cell step by step, unless a layer overrides it by something faster.
  virtual RecurrentOutputs loop(const Call& c, const RecurrentInputs& in) const;

 private:
  Results start(const Call& c, Value x) const;
  void check_batch(const Call& c, const Shape& sequences) const;

  CellPtr cell_;
  std::vector<Variable> states_;
};

namespace detail {

// A config without the key `time_major` of Keras 2, which must not be set.
KERATIN_API Json batch_major(const Json& config);

}  // namespace detail

// A recurrent layer whose config has the members of RecurrentFlags.
template <class Derived, class Config>
class KERATIN_API RecurrentOf : public LayerOf<Derived, Config, RecurrentLayer> {
  using Parent = LayerOf<Derived, Config, RecurrentLayer>;

 public:
  RecurrentFlags flags() const override {
    RecurrentFlags flags;
    config::copy_fields<RecurrentFields>(this->cfg, flags);
    return flags;
  }
  std::shared_ptr<RecurrentLayer> variant(std::string name, bool go_backwards) const override {
    Config config = this->fresh_config();
    config.go_backwards = go_backwards;
    LayerOptions options = this->options();
    options.name = std::move(name);
    return std::make_shared<Derived>(std::move(config), std::move(options));
  }
  void set_zero_output_for_mask(bool zero) override { this->cfg.zero_output_for_mask = zero; }

  static LayerPtr from_config(const Json& json, const ConfigContext& context) {
    return Parent::from_config(detail::batch_major(json), context);
  }

 protected:
  using Parent::Parent;

  // Makes the layer's cell, with the fields of the list that both configs have. (SimpleRNN's config
  // has a seed that is not in its list.)
  template <class Cell, template <class> class Fields>
  void make_cell(std::string name) {
    typename Cell::ConfigType config;
    config::copy_fields<Fields>(this->cfg, config);
    config.seed = this->cfg.seed;
    auto cell = std::make_shared<Cell>(
        std::move(config), LayerOptions{std::move(name), this->trainable(), this->dtype_policy()});
    this->set_cell(std::move(cell));
  }
};

struct KERATIN_API RNNConfig {
  LayerPtr cell = {};
  bool return_sequences = false;  // return the outputs of all steps, not of the last one only
  bool return_state = false;      // return the states after the last step, after the output
  bool go_backwards = false;      // from the last step to the first, with the outputs in that order
  bool stateful = false;          // a batch starts from the final states of the last one
  bool unroll = false;            // has no effect: loops are always compiled
  // A masked step keeps the state. Its output is that of the step before, zeros for the first; if
  // set, it is zeros.
  bool zero_output_for_mask = false;

  static constexpr std::string_view keras_name = "RNN";
  static constexpr auto fields =
      field_list(fields_of<RecurrentFields>(), field("cell", &RNNConfig::cell));
};

// A recurrent layer over any cell, see RnnCell; StackedRNNCells makes one cell of several.
class KERATIN_API RNNLayer final : public RecurrentOf<RNNLayer, RNNConfig> {
 public:
  RNNLayer(RNNConfig config, LayerOptions options);
};

using RNN = Shared<RNNLayer>;

}  // namespace keratin
