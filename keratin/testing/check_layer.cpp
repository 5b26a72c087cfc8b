#include "keratin/testing/check_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/input.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/ops.h"
#include "keratin/tensor/shape_rules.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/layer_models.h"

namespace keratin::testing {
namespace {

// The config with every float dtype, also of policies, replaced by "float64".
Json in_double(const Json& json) {
  static const std::vector<std::string> floats = {"float32", "float16", "bfloat16", "mixed_float16",
                                                  "mixed_bfloat16"};
  if (json.is_string() && std::find(floats.begin(), floats.end(), json.as_string()) != floats.end())
    return "float64";
  if (json.is_array()) {
    Json out = Json::array();
    for (const Json& item : json.as_array()) out.push_back(in_double(item));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, value] : json.as_object()) out[key] = in_double(value);
  return out;
}

Arguments<MaskedTensor> in_double(const Arguments<MaskedTensor>& arguments) {
  return arguments.map<MaskedTensor>([](MaskedTensor t) {
    if (is_float(t.value.dtype())) t.value = t.value.cast(DType::f64);
    return t;
  });
}

class CaseCheck {
 public:
  CaseCheck(const Json& test, const LayerChecks& checks) : test_(test), checks_(checks) {
    if (test.contains("inputs")) arguments_ = golden_arguments(test);
  }

  void run() {
    if (test_.contains("outputs")) return run_called();
    const LayerPtr layer = made();
    check_config(*layer);
    if (test_.contains("output_spec")) check_input(*layer);
    const LayerPtr copy = layer->fresh_copy();
    build(*copy);
    compare_copy(*layer, *copy);
  }

 private:
  void run_called() {
    const LayerPtr layer = made();
    check_config(*layer);
    const RunResult result = run_layer(*layer, arguments_);
    compare(test_, result, *layer);
    if (const Json* again = test_.find("again"); again != nullptr && !again->is_null())
      compare(*again, run_layer(*layer, golden_arguments(*again)), *layer);
    check_symbolic(result);
    check_copy(result);
    check_backends();
    const auto& without = checks_.no_gradient;
    const bool differs =
        std::find(without.begin(), without.end(), test_.at("name").as_string()) != without.end();
    if (!checks_.gradient || differs) return;
    check_gradients();
    check_gradients_on_backends();
  }

  LayerPtr from_json(Json config) const {
    if (!checks_.registered_name.empty()) {
      config["module"] = Json();
      config["registered_name"] = checks_.registered_name;
    }
    return layer_from_json(config, checks_.custom);
  }

  // The golden layer, with its golden weights.
  LayerPtr made() const { return made(test_.at("config")); }
  LayerPtr made(const Json& config) const {
    LayerPtr layer = from_json(config);
    if (checks_.prepare) checks_.prepare(test_, *layer);
    adapt_as_recorded(test_, *layer);
    build(*layer);
    const Json* recorded = test_.find("weights");
    if (recorded == nullptr) return layer;
    std::vector<Tensor> weights;
    for (const Json& weight : recorded->as_array()) weights.push_back(golden_tensor(weight));
    layer->set_weights(weights);
    const auto mine = layer->weights();
    for (size_t i = 0; i < mine.size(); ++i)
      EXPECT_EQ(mine[i].trainable(), (*recorded)[i].at("trainable").as_bool()) << mine[i].path();
    return layer;
  }

  // An input layer has a tensor instead of a call.
  void check_input(Layer& layer) const {
    const SymbolicTensor output = dynamic_cast<InputLayer&>(layer).output();
    const Json& spec = test_.at("output_spec");
    EXPECT_EQ(detail::shape_json(output.shape()), spec.at("shape"));
    EXPECT_EQ(Json(keras_name(output.dtype())), spec.at("dtype"));
    EXPECT_FALSE(output.has_mask());
  }

  void build(Layer& layer) const { build_for(layer, arguments_); }

  void compare(const Json& test, const RunResult& result, const Layer& layer) const {
    const Tree<Tensor> expected = golden_structure(test.at("outputs"));
    EXPECT_EQ(result.outputs.outline(), expected.outline());
    const auto got = result.outputs.flat(), wanted = expected.flat();
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      expect_close(got[i], wanted[i], tolerance(wanted[i].dtype()), text("output ", i));
    compare_masks(test, result);
    if (const Json* after = test.find("weights_after"); after != nullptr && !after->is_null()) {
      const auto weights = layer.weights();
      for (size_t i = 0; i < weights.size(); ++i)
        expect_close(weights[i].value(), golden_tensor((*after)[i]), checks_.tolerance,
                     "weight after: " + weights[i].path());
    }
    if (const Json* after = test.find("states_after"); after != nullptr && checks_.states) {
      const auto states = checks_.states(layer);
      ASSERT_EQ(states.size(), after->size()) << "states";
      for (size_t i = 0; i < states.size(); ++i)
        expect_close(states[i].value(), golden_tensor((*after)[i]), checks_.tolerance,
                     text("state after ", i));
    }
    const Json* losses = test.find("losses");
    if (losses == nullptr || losses->is_null()) return;
    std::vector<Tensor> all = result.losses;
    ASSERT_LE(all.size(), losses->size()) << "losses";
    // Losses of weights come last and do not belong to calls; tests of training compare them.
    for (size_t i = 0; i < all.size(); ++i)
      expect_close(all[i], golden_tensor((*losses)[i]), checks_.tolerance, text("loss ", i));
  }

  void compare_masks(const Json& test, const RunResult& result) const {
    const Json* masks = test.find("output_masks");
    if (masks == nullptr) return;
    ASSERT_EQ(result.masks.size(), masks->size());
    for (size_t i = 0; i < masks->size(); ++i) {
      const Json& wanted = (*masks)[i];
      ASSERT_EQ(result.masks[i].has_value(), !wanted.is_null()) << "mask of output " << i;
      if (result.masks[i])
        expect_close(*result.masks[i], golden_tensor(wanted), 0, text("mask of output ", i));
    }
  }

  double tolerance(DType dtype) const {
    if (dtype == DType::f16) return std::max(checks_.tolerance, 4e-3);
    if (dtype == DType::bf16) return std::max(checks_.tolerance, 3e-2);
    return checks_.tolerance;
  }

  void check_config(const Layer& layer) const {
    const Json& theirs = test_.at("config").at("config");
    const Json ours = layer.get_config();
    for (const auto& [key, value] : theirs.as_object()) {
      const Json* mine = ours.find(key);
      EXPECT_TRUE(mine != nullptr && *mine == value)
          << "config key '" << key << "': Keras has " << value << ", we write "
          << (mine == nullptr ? std::string("nothing") : mine->dump());
    }
    for (const auto& [key, value] : ours.as_object())
      EXPECT_TRUE(theirs.contains(key)) << "config key '" << key << "' is not Keras's";
    // Wrappers write the build configs of their layers.
    const LayerPtr copy = from_json(serialize_layer(layer));
    build(*copy);
    EXPECT_EQ(copy->get_config(), ours) << "a config read back writes another";
  }

  // Inputs for the arguments, with an unknown batch if `open`.
  Arguments<SymbolicTensor> symbols(bool open) const {
    return arguments_.map<SymbolicTensor>([&](const MaskedTensor& t) {
      Dims dims = t.value.shape().dims();
      if (open && !dims.empty()) dims[0] = unknown;
      return InputLayer::make(dims, t.value.dtype(), "")->output();
    });
  }

  void check_symbolic(const RunResult& result) const {
    bool masked = false;
    arguments_.each([&](const MaskedTensor& t) { masked = masked || t.mask.has_value(); });
    const LayerPtr layer = from_json(test_.at("config"));
    if (checks_.prepare) checks_.prepare(test_, *layer);
    std::vector<SymbolicTensor> found;
    try {
      found = layer->call_symbolic(symbols(!is_stateful(test_.at("config")))).flat();
    } catch (const UserError& error) {
      ADD_FAILURE() << "symbolic call: " << error.what();
      return;
    }
    const auto outputs = result.outputs.flat();
    ASSERT_EQ(found.size(), outputs.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].dtype(), outputs[i].dtype()) << "symbolic dtype of output " << i;
      EXPECT_TRUE(compatible(found[i].shape(), outputs[i].shape()))
          << "symbolic shape " << found[i].shape() << ", executed " << outputs[i].shape();
      for (int64_t axis = 1; axis < found[i].rank(); ++axis)
        EXPECT_NE(found[i].shape()[axis], unknown) << "axis " << axis << " of output " << i;
      EXPECT_TRUE(masked || found[i].has_mask() == result.masks[i].has_value())
          << "symbolic mask of output " << i;
    }
    EXPECT_EQ(layer->weights().size(), test_.at("weights").size());
  }

  static void compare_copy(const Layer& source, const Layer& copy) {
    EXPECT_EQ(copy.get_config(), source.get_config()) << "a fresh copy's config";
    const auto theirs = source.weights(), ours = copy.weights();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_FALSE(ours[i] == theirs[i]) << "a fresh copy shares " << ours[i].path();
  }

  void check_copy(const RunResult& result) const {
    const LayerPtr source = made();
    const LayerPtr copy = source->fresh_copy();
    build(*copy);
    compare_copy(*source, *copy);
    copy->set_weights(source->get_weights());
    const auto got = run_layer(*copy, arguments_).outputs.flat(), wanted = result.outputs.flat();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], wanted[i]) << "output " << i << " of a fresh copy";
  }

  // `results_on(backend)` must be the same for all backends.
  template <class Results>
  void compare_backends(const Results& results_on, double least, const std::string& what) const {
    const std::vector<Tensor> expected = results_on("reference");
    for (const std::string& backend : backends()) {
      if (backend == "reference") continue;
      const std::vector<Tensor> got = results_on(backend);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        expect_close(got[i], expected[i], std::max(least, tolerance(got[i].dtype())),
                     text(backend, " and reference, ", what, ' ', i));
    }
  }

  // Outputs and losses of a call, and the weights and states after it.
  void check_backends() const {
    const auto called_on = [&](const std::string& backend) {
      const LayerPtr layer = made();
      const RunResult result =
          run_layer(*layer, arguments_, {.engine = {.backend = backend, .tf32 = false}});
      std::vector<Tensor> all = result.outputs.flat();
      all.insert(all.end(), result.losses.begin(), result.losses.end());
      std::vector<Variable> changed = layer->weights();
      if (checks_.states)
        for (const Variable& state : checks_.states(*layer)) changed.push_back(state);
      for (const Variable& variable : changed) all.push_back(variable.value().clone());
      return all;
    };
    compare_backends(called_on, 0, "result");
  }

  // d(Σ w · outputs)/d(inputs and weights): a program that returns the sum and its gradients, the
  // program's inputs, and which of them the gradients are of.
  struct Gradients {
    Module module;
    std::vector<Tensor> data;
    std::vector<size_t> where;
  };
  static std::optional<Gradients> gradients_of(const Layer& layer,
                                               const Arguments<MaskedTensor>& arguments) {
    Gradients found;
    Module& module = found.module;
    std::vector<Tensor>& data = found.data;
    Tracer tracer(module, false);
    Values wrt;
    const auto traced = arguments.map<Traced>([&](const MaskedTensor& t) {
      Traced out{module.input({t.value.dtype(), t.value.shape()})};
      data.push_back(t.value.clone());
      if (is_float(t.value.dtype())) wrt.push_back(out.value);
      if (t.mask) {
        out.mask = module.input({t.mask->dtype(), t.mask->shape()});
        data.push_back(*t.mask);
      }
      return out;
    });
    Value total;
    uint64_t seed = 11;
    tracer.invoke(layer, traced).each([&](const Traced& t) {
      if (!is_float(t.value.dtype())) return;
      const Tensor weights = random_tensor(t.value.type(), -1, 1, ++seed);
      const Value part = ops::sum(t.value * ops::constant(module.block(), weights));
      // A layer may have outputs of several dtypes; the sum has the widest.
      if (total.defined() && part.dtype() == DType::f64) total = ops::cast(total, DType::f64);
      total = total.defined() ? total + ops::cast(part, total.dtype()) : part;
    });
    if (!total.defined()) return {};
    for (const Variable& v : tracer.variables()) {
      data.push_back(v.value().clone());
      if (is_float(v.dtype()) && v.trainable()) wrt.push_back(tracer.read(v));
    }
    if (wrt.empty()) return {};
    module.output(total);
    for (const Value g : keratin::gradients(total, wrt)) module.output(g);
    const auto& parameters = module.block().parameters();
    for (const Value w : wrt)
      for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].get() == &w.node()) found.where.push_back(i);
    EXPECT_EQ(found.where.size(), wrt.size());
    return found;
  }

  // Compares some elements of each with finite differences.
  void check_gradients() const {
    const LayerPtr layer = made(in_double(test_.at("config")));
    const auto found = gradients_of(*layer, in_double(arguments_));
    if (!found) return;
    compare_differences(compile(found->module.clone(), {.backend = "reference"}), found->data,
                        found->where);
  }

  // In the layer's own dtype. Gradients are longer sums than outputs, so they differ more.
  void check_gradients_on_backends() const {
    const LayerPtr layer = made();
    const auto found = gradients_of(*layer, arguments_);
    if (!found) return;
    const auto on = [&](const std::string& backend) {
      std::vector<Tensor> data;
      for (const Tensor& t : found->data) data.push_back(t.clone());
      return compile(found->module.clone(), {.backend = backend, .tf32 = false})(data);
    };
    double least = checks_.tolerance;
    for (const Tensor& output : golden_structure(test_.at("outputs")).flat())
      least = std::max(least, tolerance(output.dtype()));
    compare_backends(on, 5 * least, "gradient");
  }

  static void compare_differences(const Executable& program, std::vector<Tensor> data,
                                  const std::vector<size_t>& where) {
    const auto fresh = [&] {
      std::vector<Tensor> copies;
      for (const Tensor& t : data) copies.push_back(t.clone());
      return copies;
    };
    const auto slopes = program(fresh());
    constexpr double step = 1e-5;
    for (size_t k = 0; k < where.size(); ++k) {
      Tensor& x = data[where[k]];
      const int64_t stride = std::max<int64_t>(1, x.count() / 6);
      for (int64_t i = 0; i < x.count(); i += stride) {
        const double at = x.at(i);
        x.set(i, at + step);
        const double above = program(fresh())[0].at(0);
        x.set(i, at - step);
        const double below = program(fresh())[0].at(0);
        x.set(i, at);
        const double expected = (above - below) / (2 * step), got = slopes[k + 1].at(i);
        EXPECT_NEAR(got, expected, 1e-5 * (1 + std::fabs(expected)))
            << "gradient of parameter " << where[k] << ", element " << i;
      }
    }
  }

  const Json& test_;
  const LayerChecks& checks_;
  Arguments<MaskedTensor> arguments_;
};

}  // namespace

void check_layer(const std::string& class_name, const LayerChecks& checks) {
  const Json tests = read_golden("layers/" + class_name + ".json");
  ASSERT_GE(tests.size(), 3u) << class_name;
  const auto handler = set_warning_handler({});
  for (const Json& test : tests.as_array()) {
    const std::string& name = test.at("name").as_string();
    if (std::find(checks.skip.begin(), checks.skip.end(), name) != checks.skip.end()) continue;
    SCOPED_TRACE(class_name + ": " + name);
    try {
      CaseCheck(test, checks).run();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  set_warning_handler(handler);
}

}  // namespace keratin::testing
