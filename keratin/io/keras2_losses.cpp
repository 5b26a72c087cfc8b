#include "keratin/io/keras2_losses.h"

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/sequential.h"
#include "keratin/io/old_version.h"

namespace keratin::io {
namespace {

using O = Json::Object;

bool is_proximity(const Json& name) {
  return name == Json("cosine_proximity") || name == Json("cosine");
}

// Keras 2.0.9 replaced the mean by the sum.
bool takes_the_mean(const std::string& version) { return is_before(version, 2, 0, 9); }

bool of_tensorflow(const std::string& version) { return version.ends_with("-tf"); }

// The size of each output's last axis.
Dims widths(const Layer& model) {
  const auto* functional = dynamic_cast<const FunctionalLayer*>(&model);
  if (const auto* sequential = dynamic_cast<const SequentialLayer*>(&model))
    functional = sequential->functional();
  Dims out;
  if (functional != nullptr)
    functional->output().each([&](const SymbolicTensor& t) {
      out.push_back(t.shape().rank() == 0 ? 1 : t.shape().back());
    });
  return out;
}

// The loss weights that turn today's loss, the negative sum, into that of the version.
std::optional<Json> weights_for(const std::string& version, const Layer& model) {
  Json weights = Json::array();
  for (const int64_t width : widths(model)) {
    if (takes_the_mean(version) && width <= 0) return std::nullopt;
    weights.push_back(takes_the_mean(version) ? 1.0 / static_cast<double>(width) : -1.0);
  }
  return weights.size() > 0 ? std::optional(weights) : std::nullopt;
}

void set_loss(Json& training, const std::string& version, const Layer& model) {
  const Json* given = training.find("loss");
  if (given == nullptr || !is_proximity(*given)) return;
  training["loss"] = "cosine_similarity";
  if (!takes_the_mean(version) && !of_tensorflow(version)) return;
  const Json* weighted = training.find("loss_weights");
  const auto weights = weights_for(version, model);
  if ((weighted == nullptr || weighted->is_null()) && weights)
    training["loss_weights"] = *weights;
  else
    warn(text("the loss cosine_proximity of Keras ", version, " has another scale or sign than ",
              "cosine_similarity, which is used instead"));
}

// Converts metrics. In Keras the metric of that name is the loss function; in tf.keras it is not.
Json metric_today(const Json& json, const std::string& version) {
  if (json.is_array()) {
    Json items = Json::array();
    for (const Json& item : json.as_array()) items.push_back(metric_today(item, version));
    return items;
  }
  if (json.is_object() && !json.contains("class_name")) {
    Json members = Json::object();
    for (const auto& [key, value] : json.as_object()) members[key] = metric_today(value, version);
    return members;
  }
  if (!is_proximity(json)) return json;
  const Json named = O{{"name", "cosine_proximity"}};
  if (of_tensorflow(version)) return O{{"class_name", "CosineSimilarity"}, {"config", named}};
  if (takes_the_mean(version))
    warn(text(
        "the metric cosine_proximity of Keras ", version,
        " is a mean over the last axis; cosine_similarity, which is used instead, is the sum"));
  return O{{"class_name", "MeanMetricWrapper"},
           {"config", O{{"name", "cosine_proximity"}, {"fn", "cosine_similarity"}}}};
}

// Converts losses in lists and in dicts by output.
Json losses_today(const Json& json, const std::string& version) {
  if (is_proximity(json)) {
    if (takes_the_mean(version) || of_tensorflow(version))
      warn(text("the loss cosine_proximity of Keras ", version, " has another scale or sign than ",
                "cosine_similarity, which is used instead"));
    return "cosine_similarity";
  }
  Json out = json;
  if (json.is_array()) {
    out = Json::array();
    for (const Json& item : json.as_array()) out.push_back(losses_today(item, version));
  } else if (json.is_object() && !json.contains("class_name")) {
    for (const auto& [key, value] : json.as_object()) out[key] = losses_today(value, version);
  }
  return out;
}

}  // namespace

Json with_cosine_similarity(const Json& training, const std::string& version, const Layer& model) {
  Json out = training;
  set_loss(out, version, model);
  if (const Json* losses = training.find("loss"); losses != nullptr && !losses->is_string())
    out["loss"] = losses_today(*losses, version);
  for (const char* key : {"metrics", "weighted_metrics"})
    if (const Json* metrics = training.find(key)) out[key] = metric_today(*metrics, version);
  return out;
}

}  // namespace keratin::io
