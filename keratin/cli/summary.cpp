#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

int64_t parameters(const std::vector<Variable>& variables) {
  int64_t count = 0;
  for (const Variable& v : variables) count += v.shape().count();
  return count;
}

Json ends_json(const std::vector<SymbolicTensor>& tensors, const std::vector<std::string>& names) {
  Json out = Json::array();
  for (size_t i = 0; i < tensors.size(); ++i)
    out.push_back(Json::Object{{"name", names[i]},
                               {"shape", shape_json(tensors[i].shape())},
                               {"dtype", text(tensors[i].dtype())}});
  return out;
}

Json layer_json(const Layer& layer) {
  return Json::Object{{"name", layer.name()},
                      {"class", std::string(layer.class_name())},
                      {"parameters", layer.built() ? Json(layer.count_params()) : Json()},
                      {"trainable", layer.trainable()}};
}

Json summary_json(const Model& model) {
  Json layers = Json::array();
  for (const LayerPtr& layer : model.layers()) layers.push_back(layer_json(*layer));
  Json out = Json::Object{{"name", model.name()},
                          {"class", std::string(model.layer()->class_name())},
                          {"layers", layers}};
  if (model.functional() != nullptr) {
    out["inputs"] = ends_json(model.inputs(), input_names(model));
    out["outputs"] = ends_json(model.outputs(), output_names(model));
  }
  const int64_t trained = parameters(model.layer()->trainable_weights());
  out["parameters"] = parameters(model.weights());
  out["trainable_parameters"] = trained;
  out["non_trainable_parameters"] = parameters(model.weights()) - trained;
  return out;
}

Status run_summary(const Arguments& arguments) {
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  if (arguments.flag("json")) {
    std::cout << summary_json(model).dump(2) << '\n';
    return success;
  }
  summary(model, {.line_length = arguments.integer("width"),
                  .expand_nested = arguments.flag("expand-nested"),
                  .show_trainable = arguments.flag("trainable")});
  return success;
}

}  // namespace

Command summary_command() {
  return {
      .name = "summary",
      .summary = "print the layers of a model",
      .description =
          "Prints the table that Keras prints: layers, output shapes, parameters, and "
          "what is connected to what.",
      .positionals = {model_argument()},
      .options = {{.name = "expand-nested", .help = "show the layers of nested models too"},
                  {.name = "trainable", .help = "show which layers train"},
                  {.name = "width",
                   .value = "COLUMNS",
                   .help = "the length of a line; 0 for what fits",
                   .fallback = "0",
                   .kind = Kind::integer},
                  json_option()},
      .examples = {"keratin summary model.keras", "keratin summary --json model.keras"},
      .run = run_summary,
  };
}

}  // namespace keratin::cli
