#include "keratin/io/weights.h"

#include "keratin/base/warning.h"

namespace keratin::io {
namespace {

std::string shown(const SavedObject& object) {
  return text("'", object.name, "' (", object.path.empty() ? "the model" : object.path, ")");
}

// The values of one object, in the order of its variables; an error says what does not fit.
std::vector<Assignment> values_of(const WeightSource& source, const SavedObject& object) {
  std::vector<Assignment> out;
  if (object.variables.empty()) return out;
  // A layer that a model shares with a model inside it is written once, and Keras's config does
  // not say that the two are one: its name does.
  std::string group = object.group();
  if (source.count(group) == 0)
    if (const std::string other = source.group_of(object.name); !other.empty()) group = other;
  const size_t count = source.count(group);
  if (count == 0 && object.is_activation) return out;
  require(count == object.variables.size(), "Layer ", shown(object), " expected ",
          object.variables.size(), " variables, but received ", count,
          " variables during loading.");
  for (size_t i = 0; i < object.variables.size(); ++i) {
    const Variable& variable = object.variables[i];
    const std::string name = std::to_string(i);
    require(source.has(group, name), "Layer ", shown(object), ": there is no variable '", name,
            "' in '", group, "'");
    // The model fixes the shape, so nothing is read that the model did not ask for.
    const Shape shape(source.dims(group, name));
    require(shape == variable.shape(), "Layer ", shown(object), ": '", variable.name(),
            "' expected shape ", variable.shape(), ", got ", shape, " from '", group, '/', name,
            "'");
    out.push_back({variable, source.read(group, name)});
    check_dtype(variable, out.back().value.dtype());
  }
  return out;
}

}  // namespace

void read_weights(const WeightSource& source, const std::vector<SavedObject>& objects,
                  const std::string& where, const ReadOptions& options) {
  std::vector<Assignment> all;
  std::vector<std::string> failures;
  for (const SavedObject& object : objects) {
    try {
      for (Assignment& one : values_of(source, object)) all.push_back(std::move(one));
    } catch (const UserError& error) {
      if (options.skip_mismatch || object.is_optimizer)
        warn(text(where, ": ", error.what(), " It is left as it was."));
      else
        failures.push_back(error.what());
    }
  }
  if (!failures.empty())
    fail(where, ": A total of ", failures.size(),
         " objects could not be loaded. The first: ", failures.front());
  assign(all);
}

void check_dtype(const Variable& variable, DType stored) {
  require(!is_float(stored) || is_float(variable.dtype()), "'", variable.path(), "' expected ",
          keras_name(variable.dtype()), ", got ", keras_name(stored), " in the file");
}

void assign(const std::vector<Assignment>& all) {
  for (const Assignment& one : all) one.variable.take(one.value);
}

}  // namespace keratin::io
