#include "keratin/io/weights.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin::io {
namespace {

std::string shown(const SavedObject& object) {
  return text("'", object.name, "' (", object.path.empty() ? "the model" : object.path, ")");
}

// The group that holds an object's variables.
std::string group_in(const WeightSource& source, const SavedObject& object) {
  const std::string group = object.group();
  if (source.count(group) > 0) return group;
  // Some public members of today were private before, such as attention's "_query_dense".
  const size_t name = object.path.rfind('/') + 1;
  const std::string hidden = object.path.substr(0, name) + '_' + object.path.substr(name) + "/vars";
  if (source.count(hidden) > 0) return hidden;
  // A layer that a model shares with a nested model is written once. Keras's config does not say
  // that it is shared, so it is found by its name.
  const std::string other = source.group_of(object.name);
  return other.empty() ? group : other;
}

// How many variables an object has in the file. Tensors that its layer keeps beside them are not
// counted.
size_t count_of(const WeightSource& source, const std::string& group, const SavedObject& object) {
  size_t count = source.count(group);
  if (object.layer == nullptr) return count;
  for (const auto& [name, tensor] : object.layer->expected_assets().tensors)
    if (source.has(group, name)) --count;
  return count;
}

// True if the file has as many variables as the object. Errors of the file are reported later.
bool is_there(const WeightSource& source, const SavedObject& object) {
  try {
    return object.variables.empty() ||
           count_of(source, group_in(source, object), object) == object.variables.size();
  } catch (const UserError&) {
    return false;
  }
}

size_t count_there(const WeightSource& source, const std::vector<SavedObject>& objects) {
  return static_cast<size_t>(
      std::count_if(objects.begin(), objects.end(),
                    [&](const SavedObject& object) { return is_there(source, object); }));
}

bool is_zero(const WeightSource& source, const std::string& group, const std::string& name) {
  return source.has(group, name) && source.dims(group, name).empty() &&
         source.read(group, name).at(0) == 0;
}

// The values of one object, in the order of its variables. Throws if one does not fit.
std::vector<Assignment> values_of(const WeightSource& source, const SavedObject& object) {
  std::vector<Assignment> out;
  if (object.variables.empty()) return out;
  const std::string group = group_in(source, object);
  const size_t count = count_of(source, group, object);
  if (count == 0 && object.is_activation) return out;
  // An optimizer before its first step has only the number of steps and the learning rate.
  const bool unused = object.is_optimizer && count == 2 && object.variables.size() > count &&
                      is_zero(source, group, "0");
  const size_t wanted = unused ? count : object.variables.size();
  require(count == wanted, "Layer ", shown(object), " expected ", object.variables.size(),
          " variables, but received ", count, " variables during loading.");
  for (size_t i = 0; i < wanted; ++i) {
    const Variable& variable = object.variables[i];
    const std::string name = std::to_string(i);
    require(source.has(group, name), "Layer ", shown(object), ": there is no variable '", name,
            "' in '", group, "'");
    // Shapes are compared before reading, so no more is read than the model needs.
    const Shape shape(source.dims(group, name));
    require(shape == variable.shape(), "Layer ", shown(object), ": '", variable.name(),
            "' expected shape ", variable.shape(), ", got ", shape, " from '", group, '/', name,
            "'");
    out.push_back({variable, source.read(group, name)});
    check_dtype(variable, out.back().value.dtype());
  }
  if (object.converts)
    for (const Variable& variable : object.converts->unsaved_weights())
      out.push_back({variable, Tensor::zeros(variable.dtype(), variable.shape())});
  return out;
}

}  // namespace

// A file fits at most one of two rules that give different paths for its model: if they number a
// layer differently, the last layer of that class has a path that the other rule does not use.
std::vector<SavedObject> objects_in(const WeightSource& source, const Layer& model,
                                    const OptimizerState* optimizer) {
  const ListRule* best = &list_rules[0];
  size_t max_found = 0;
  for (const ListRule& rule : list_rules) {
    const std::vector<SavedObject> objects = saved_objects(model, nullptr, rule);
    const size_t found = count_there(source, objects);
    if (found > max_found) best = &rule, max_found = found;
    if (found == objects.size()) break;
  }
  return saved_objects(model, optimizer, *best);
}

void read_weights(const WeightSource& source, const std::vector<SavedObject>& objects,
                  const std::string& where, const ReadOptions& options) {
  std::vector<Assignment> all;
  std::vector<std::string> failures;
  for (const SavedObject& object : objects) {
    try {
      for (Assignment& one : values_of(source, object)) all.push_back(std::move(one));
    } catch (const UserError& error) {
      if (options.skip_mismatch || object.is_optimizer)
        warn(text(where, ": ", error.what(), " It is not changed."));
      else
        failures.push_back(error.what());
    }
  }
  if (!failures.empty())
    fail(where, ": A total of ", failures.size(),
         " objects could not be loaded. The first: ", failures.front());
  assign(all);
}

void read_own_tensors(const WeightSource& source, const std::vector<SavedObject>& objects,
                      const std::string& where) {
  for (const SavedObject& object : objects) {
    if (object.layer == nullptr) continue;
    LayerAssets assets = object.layer->expected_assets();
    assets.files.clear();
    const std::string group = group_in(source, object);
    const auto is_in_file = [&](const auto& item) { return source.has(group, item.first); };
    if (std::none_of(assets.tensors.begin(), assets.tensors.end(), is_in_file)) continue;
    for (auto& [name, tensor] : assets.tensors) {
      require(source.has(group, name), where, ": there is no '", name, "' in '", group,
              "' for layer '", object.name, "'");
      tensor = source.read(group, name);
    }
    // As variables are, they are given to the layers of the model.
    const_cast<Layer&>(*object.layer).load_assets(assets);
  }
}

void check_dtype(const Variable& variable, DType stored) {
  const bool fits = stored != DType::string && (!is_float(stored) || is_float(variable.dtype()));
  require(fits, "'", variable.path(), "' expected ", keras_name(variable.dtype()), ", got ",
          keras_name(stored), " in the file");
}

void assign(const std::vector<Assignment>& all) {
  for (const Assignment& one : all) one.variable.take(one.value);
}

}  // namespace keratin::io
