#include <cmath>
#include <iostream>
#include <set>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

struct Array {
  DType dtype;
  Dims dims;
  std::function<Tensor()> read;
};

// What of a file is compared: by layer, by array.
struct View {
  std::map<std::string, Json> layers;  // class, config and connections, by path
  std::map<std::string, Array> weights;
  Json training;
};

struct Difference {
  std::string kind;   // "config", "weights" or "training"
  std::string place;  // a layer or an array
  std::string what;
  std::optional<double> max_abs = {};
};

std::string layer_name(const Json& layer) {
  const Json* config = member(layer, "config");
  for (const Json* holder : {config, &layer})
    if (const Json* name = holder != nullptr ? member(*holder, "name") : nullptr)
      if (name->is_string()) return name->as_string();
  return {};
}

const Json* layers_in(const Json& config) {
  const Json* layers = config.is_array() ? &config : member(config, "layers");
  return layers != nullptr && layers->is_array() ? layers : nullptr;
}

// The layers of an envelope, those of nested models under the names of these.
void add_layers(View& view, const Json& envelope, const std::string& path) {
  static constexpr std::string_view compared[] = {"class_name", "inbound_nodes"};
  Json entry = Json::object();
  for (const std::string_view key : compared)
    if (const Json* found = member(envelope, key)) entry[key] = *found;
  const Json* config = member(envelope, "config");
  const Json* inner = config != nullptr ? layers_in(*config) : nullptr;
  if (config != nullptr && config->is_object()) {
    Json own = Json::object();
    for (const auto& [key, value] : config->as_object())
      if (inner == nullptr || key != "layers") own[key] = value;
    entry["config"] = own;
  }
  view.layers.insert_or_assign(path.empty() ? "the model" : "layer '" + path + "'", entry);
  if (inner == nullptr) return;
  for (const Json& layer : inner->as_array())
    add_layers(view, layer, path.empty() ? layer_name(layer) : path + '/' + layer_name(layer));
}

// By their paths, without the name of the model, which is compared by itself.
void add_variables(View& view, const std::vector<Variable>& variables, const std::string& prefix,
                   const std::string& model) {
  for (const Variable& v : variables) {
    std::string path = v.path().empty() ? v.name() : v.path();
    if (path.starts_with(model + '/')) path.erase(0, model.size() + 1);
    std::string name = prefix + path;
    for (int again = 1; view.weights.contains(name); ++again) name = text(prefix, path, '#', again);
    view.weights.emplace(name, Array{v.dtype(), v.shape().dims(), [v] { return v.value(); }});
  }
}

View view_of(const Model& model) {
  View view;
  add_layers(view, Json::parse(model.to_json()), "");
  add_variables(view, model.weights(), "", model.name());
  if (!model.compiled()) return view;
  view.training = io::compile_config(model.trainer().options());
  add_variables(view, model.optimizer().variables(), "optimizer: ", model.name());
  return view;
}

View view_of(const FileContents& contents) {
  View view;
  if (!contents.config.is_null()) add_layers(view, contents.config, "");
  for (const StoredTensor& tensor : contents.tensors)
    view.weights.emplace(tensor.name, Array{tensor.dtype, tensor.dims, tensor.read});
  view.training = contents.training;
  return view;
}

// Weights alone are looked at as those of the other file's model.
View view_of_file(const std::string& path, const std::string& other, bool raw) {
  if (raw) return view_of(inspect_file(path));
  if (!holds_weights_alone(path)) return view_of(open_model(path));
  require(std::filesystem::exists(path), path, ": no such file");
  Model model = open_model(other);
  model.load_weights(path);
  return view_of(model);
}

// Where two values differ: at most this many places of one layer are named.
constexpr size_t max_named = 20;

void compare_json(const Json* a, const Json* b, const std::string& path,
                  std::vector<std::string>& out) {
  if (out.size() >= max_named) return;
  const auto shown = [](const Json* json) {
    std::string text = json != nullptr ? json->dump() : "nothing";
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
  };
  if (a != nullptr && b != nullptr) {
    if (*a == *b) return;
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + '.' + key;
    };
    if (a->is_object() && b->is_object()) {
      for (const auto& [key, value] : a->as_object())
        compare_json(&value, b->find(key), below(key), out);
      for (const auto& [key, value] : b->as_object())
        if (!a->contains(key)) compare_json(nullptr, &value, below(key), out);
      return;
    }
    if (a->is_array() && b->is_array() && a->size() == b->size()) {
      for (size_t i = 0; i < a->size(); ++i)
        compare_json(&(*a)[i], &(*b)[i], below(std::to_string(i)), out);
      return;
    }
  }
  out.push_back((path.empty() ? "" : path + ": ") + shown(a) + ", " + shown(b));
}

// Pairs of what two maps have, either of them nothing.
template <class T, class Visit>
void each_pair(const std::map<std::string, T>& a, const std::map<std::string, T>& b,
               const Visit& visit) {
  std::set<std::string> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  for (const std::string& key : keys) {
    const auto left = a.find(key), right = b.find(key);
    visit(key, left == a.end() ? nullptr : &left->second,
          right == b.end() ? nullptr : &right->second);
  }
}

void compare_configs(const View& a, const View& b, std::vector<Difference>& out) {
  each_pair(a.layers, b.layers, [&](const std::string& place, const Json* left, const Json* right) {
    if (left == nullptr || right == nullptr) {
      out.push_back(
          {"config", place, left == nullptr ? "only in the second" : "only in the first"});
      return;
    }
    std::vector<std::string> places;
    compare_json(left, right, "", places);
    for (const std::string& what : places) out.push_back({"config", place, what});
  });
}

std::string type_of(const Array& array) {
  return text(array.dtype, ' ', keras_shape(Shape(array.dims)));
}

double max_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::abs(x - y);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    most = std::max(most, difference);
  }
  return most;
}

void compare_weights(const View& a, const View& b, double tolerance, std::vector<Difference>& out) {
  each_pair(
      a.weights, b.weights, [&](const std::string& place, const Array* left, const Array* right) {
        if (left == nullptr || right == nullptr) {
          out.push_back(
              {"weights", place, left == nullptr ? "only in the second" : "only in the first"});
          return;
        }
        if (left->dims != right->dims || left->dtype != right->dtype)
          out.push_back({"weights", place, type_of(*left) + ", " + type_of(*right)});
        if (left->dims != right->dims) return;
        const double most = max_difference(left->read(), right->read());
        if (most > tolerance)
          out.push_back({"weights", place, text("max abs difference ", most), most});
      });
}

std::vector<Difference> differences(const View& a, const View& b, const Arguments& arguments) {
  std::set<std::string> ignored(arguments.all("ignore").begin(), arguments.all("ignore").end());
  std::vector<Difference> out;
  if (!ignored.contains("config")) compare_configs(a, b, out);
  if (!ignored.contains("weights")) compare_weights(a, b, arguments.number("tolerance"), out);
  if (ignored.contains("training")) {
    std::erase_if(out, [](const Difference& d) { return d.place.starts_with("optimizer"); });
    return out;
  }
  std::vector<std::string> places;
  compare_json(&a.training, &b.training, "", places);
  for (const std::string& what : places) out.push_back({"training", "compile", what});
  return out;
}

Json differences_json(const std::vector<Difference>& all) {
  Json list = Json::array();
  for (const Difference& d : all) {
    Json entry = Json::Object{{"kind", d.kind}, {"place", d.place}, {"what", d.what}};
    if (d.max_abs) entry["max_abs_difference"] = finite_json(*d.max_abs);
    list.push_back(entry);
  }
  return Json::Object{{"same", all.empty()}, {"differences", list}};
}

Status run_diff(const Arguments& arguments) {
  const std::string &first = arguments.file("FIRST"), &second = arguments.file("SECOND");
  const bool raw =
      arguments.flag("raw") || (holds_weights_alone(first) && holds_weights_alone(second));
  const View a = view_of_file(first, second, raw);
  const std::vector<Difference> all = differences(a, view_of_file(second, first, raw), arguments);
  if (arguments.flag("json"))
    std::cout << differences_json(all).dump(2) << '\n';
  else
    for (const Difference& d : all)
      std::cout << d.kind << "  " << d.place << ": " << d.what << '\n';
  return all.empty() ? success : different;
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .summary = "say how two models or weights differ",
      .description =
          "Compares two files layer by layer: configs and connections, weights, how they are "
          "trained and the optimizer's state. Models are opened first, so that the format and the "
          "version of Keras that wrote them make no difference; weights alone are compared as "
          "those of the other file's model, or by name when both are weights. Prints nothing and "
          "ends with status 0 when there is no difference, else with 1.",
      .positionals = {{.name = "FIRST", .help = "a model or weights"},
                      {.name = "SECOND", .help = "another one"}},
      .options = {{.name = "tolerance",
                   .value = "ATOL",
                   .help = "how far apart numbers may be",
                   .fallback = "0",
                   .kind = Kind::number},
                  {.name = "ignore",
                   .value = "WORD",
                   .help = "what not to compare",
                   .repeats = true,
                   .words = {"config", "weights", "training"}},
                  {.name = "raw",
                   .help = "compare what the files say, without opening models: for files with "
                           "Python Lambdas or classes that are not known"},
                  json_option()},
      .examples = {"keratin diff before.keras after.keras", "keratin diff model.h5 model.keras",
                   "keratin diff a.keras b.keras --ignore training --tolerance 1e-6"},
      .run = run_diff,
  };
}

}  // namespace keratin::cli
