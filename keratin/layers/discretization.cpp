#include <algorithm>
#include <cmath>
#include <numeric>

#include "keratin/base/text.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// A sketch of many numbers: values, and how many numbers each stands for.
struct Summary {
  std::vector<float> values, weights;
};

// The last of each group of equally many numbers.
Summary summary_of(std::vector<float> values, double epsilon) {
  std::sort(values.begin(), values.end(),
            [](float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  const double step = std::max(static_cast<double>(values.size()) / (1.0 / epsilon), 1.0);
  Summary summary;
  const auto stride = static_cast<size_t>(step);
  for (auto i = static_cast<size_t>(step - 1); i < values.size(); i += stride)
    summary.values.push_back(values[i]);
  summary.weights.assign(summary.values.size(), static_cast<float>(step));
  return summary;
}

// np.interp: the line through the points, flat outside.
double interpolated(double x, const std::vector<double>& xs, const std::vector<double>& ys) {
  const auto above = std::upper_bound(xs.begin(), xs.end(), x);
  if (above == xs.begin()) return ys.front();
  if (above == xs.end()) return ys.back();
  const auto i = static_cast<size_t>(above - xs.begin());
  const double slope = (ys[i] - ys[i - 1]) / (xs[i] - xs[i - 1]);
  return slope * (x - xs[i - 1]) + ys[i - 1];
}

// A sketch of at most 1 / epsilon values.
Summary compressed(const Summary& summary, double epsilon) {
  if (static_cast<double>(summary.values.size()) * epsilon < 1) return summary;
  std::vector<float> sums(summary.weights.size());
  std::partial_sum(summary.weights.begin(), summary.weights.end(), sums.begin());
  std::vector<double> shares, totals(sums.begin(), sums.end()),
      values(summary.values.begin(), summary.values.end());
  for (const float sum : sums) shares.push_back(static_cast<double>(sum / sums.back()));
  Summary out;
  double before = 0;
  const auto count = static_cast<int64_t>(std::ceil(1.0 / epsilon));
  for (int64_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon;
    const double total = interpolated(share, shares, totals);
    out.values.push_back(static_cast<float>(interpolated(share, shares, values)));
    out.weights.push_back(static_cast<float>(total - before));
    before = total;
  }
  return out;
}

// Both, in order of their values.
Summary merged_summaries(const Summary& a, const Summary& b, double epsilon) {
  std::vector<std::pair<float, float>> all;
  for (const Summary* part : {&a, &b})
    for (size_t i = 0; i < part->values.size(); ++i)
      all.emplace_back(part->values[i], part->weights[i]);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  Summary out;
  for (const auto& [value, weight] : all) {
    out.values.push_back(value);
    out.weights.push_back(weight);
  }
  return compressed(out, epsilon);
}

}  // namespace

DiscretizationLayer::DiscretizationLayer(DiscretizationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(!cfg.sparse || cfg.output_mode != "int",
          "`sparse=True` may only be used if `output_mode` is `'one_hot'`, `'multi_hot'`, or "
          "`'count'`. Received: sparse=True and output_mode=int");
  check_choice("Discretization", "output_mode", cfg.output_mode,
               {"int", "one_hot", "multi_hot", "count"});
  require(cfg.num_bins.value_or(0) >= 0,
          "`num_bins` must be greater than or equal to 0. Received: `num_bins=",
          cfg.num_bins.value_or(0), "`");
  require(!cfg.num_bins || !cfg.bin_boundaries,
          "Both `num_bins` and `bin_boundaries` should not be set. Received: `num_bins=",
          cfg.num_bins.value_or(0),
          "` and `bin_boundaries=", config::write(cfg.bin_boundaries).dump(), "`");
  require(cfg.num_bins || cfg.bin_boundaries,
          "You need to set either `num_bins` or `bin_boundaries`.");
  require(cfg.epsilon > 0 && cfg.epsilon <= 1 && cfg.epsilon >= 1e-7,
          "Discretization: `epsilon` must be in [1e-7, 1], got ", cfg.epsilon);
}

// After adapt, a config has both the number of bins and the boundaries.
LayerPtr DiscretizationLayer::from_config(const Json& json, const ConfigContext& context) {
  const Json *bins = json.find("num_bins"), *boundaries = json.find("bin_boundaries");
  if (bins == nullptr || bins->is_null() || boundaries == nullptr || boundaries->is_null())
    return LayerOf::from_config(json, context);
  Json unadapted = json;
  unadapted["bin_boundaries"] = nullptr;
  const LayerPtr layer = LayerOf::from_config(unadapted, context);
  config::read(*boundaries, static_cast<DiscretizationLayer&>(*layer).cfg.bin_boundaries, context);
  return layer;
}

LayerPtr DiscretizationLayer::fresh_copy() const {
  DiscretizationConfig start = cfg;
  if (start.num_bins) start.bin_boundaries.reset();
  auto copy = std::make_shared<DiscretizationLayer>(start, options());
  copy->cfg.bin_boundaries = cfg.bin_boundaries;
  return copy;
}

Json DiscretizationLayer::get_config() const {
  Json json = own_config();
  json["name"] = name();
  json["dtype"] = keras_name(variable_dtype());
  return json;
}

void DiscretizationLayer::adapt(const std::vector<Tensor>& batches) {
  require(cfg.num_bins.has_value(),
          "Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, "
          "use `num_bins` instead.");
  require(*cfg.num_bins > 0, "Discretization: adapt needs one bin or more, got 0");
  Summary summary;
  for (const Tensor& batch : batches)
    summary =
        merged_summaries(summary_of(batch.to_vector<float>(), cfg.epsilon), summary, cfg.epsilon);
  const double share = 1.0 / static_cast<double>(*cfg.num_bins);
  std::vector<float> values = compressed(summary, share).values;
  if (!values.empty()) values.pop_back();
  cfg.bin_boundaries.emplace(values.begin(), values.end());
  mark_changed();
}

Results DiscretizationLayer::call(const Call& c) const {
  require(cfg.bin_boundaries.has_value(),
          "You need to either pass the `bin_boundaries` argument at construction time or call "
          "`adapt(dataset)` before you can start using the `Discretization` layer.");
  const auto& bounds = *cfg.bin_boundaries;
  const auto count = static_cast<int64_t>(bounds.size());
  const Value x = c.input().dtype() == DType::f64 ? c.input() : ops::cast(c.input(), DType::f32);
  const Value bins = ops::constant(c.block(), Tensor::of(x.dtype(), {count}, bounds));
  const Value indices = ops::digitize(x, bins);
  return encoded_categories(indices, cfg.output_mode, count + 1,
                            cfg.output_mode == "int" ? DType::i32 : compute_dtype());
}

}  // namespace keratin
