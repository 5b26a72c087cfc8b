#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/symbolic.h"
#include "keratin/graph/variable.h"

namespace keratin {

// Options of every layer, beside its own config.
struct LayerOptions {
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
  Regularizer activity_regularizer = {};  // a penalty on the outputs, added to the losses
};

struct WeightOptions {
  bool trainable = true;
  std::optional<DType> dtype = {};
  Regularizer regularizer = {};
  Constraint constraint = {};
};

// What a layer holds: its options, its device, weights of its own, and sublayers with theirs.
class KERATIN_API LayerState {
 public:
  virtual ~LayerState() = default;
  LayerState(const LayerState&) = delete;
  LayerState& operator=(const LayerState&) = delete;

  const std::string& name() const { return options_.name; }
  const DTypePolicy& dtype_policy() const { return options_.dtype; }
  DType compute_dtype() const { return options_.dtype.compute(); }
  DType variable_dtype() const { return options_.dtype.variable(); }
  const LayerOptions& options() const { return options_; }

  // The device of its weights and calls. None for a layer made outside all device scopes: its
  // weights are stored on cpu:0, its calls run where their first tensor is.
  const std::optional<Device>& device() const { return device_; }

  bool trainable() const { return options_.trainable; }
  void set_trainable(bool trainable);  // its weights and its sublayers too

  // Whether its weights are made.
  bool built() const { return built_; }

  // Its own trainable weights, its own others, then its sublayers'; no variable twice.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  // The weights and the seeds of random layers.
  std::vector<Variable> variables() const;
  int64_t count_params() const;
  std::vector<Tensor> get_weights() const;  // copies
  void set_weights(const std::vector<Tensor>& values);
  // Weights this layer itself owns, in the order files keep them.
  std::vector<Variable> own_weights() const;

  struct Sublayer {
    std::string attribute;  // Keras's name of the member that holds it
    LayerPtr layer;
    bool in_list = false;  // whether that member is a list of layers
  };
  virtual std::vector<Sublayer> sublayers() const { return sublayers_; }

  // A number that changes whenever a call may write another program: a layer was added or removed
  // here or below, or was frozen. Programs are compiled again then.
  size_t revision() const;
  // How often any layer was made or changed so.
  static uint64_t changes();

 protected:
  LayerState(std::string_view class_name, LayerOptions options);

  Variable add_weight(const std::string& name, const Shape& shape, const Initializer& initializer,
                      const WeightOptions& options = {});
  // Counts a weight of a sublayer as its own, too: files then have it in both places.
  void share_weight(const Variable& weight) { own_trainable_.push_back(weight); }
  // State for random numbers: i64[2], from the seed or from the program's stream.
  Variable add_seed(std::optional<int64_t> seed);
  void add_sublayer(std::string attribute, LayerPtr layer, bool in_list = false);
  void set_built() { built_ = true; }
  // Call this when the layer computes something else from now on.
  void mark_changed();

  LayerOptions options_;

 private:
  std::vector<Variable> own_variables(bool seeds) const;

  std::vector<Variable> own_trainable_, own_others_, seeds_;
  std::vector<Sublayer> sublayers_;
  std::optional<Device> device_ = DeviceScope::current();
  bool built_ = false;
  uint64_t changed_at_ = 0;  // changes() when it was made or last changed
};

// Lets automatic names of layers begin anew.
KERATIN_API void clear_session();

}  // namespace keratin
