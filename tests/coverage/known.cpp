// Says which classes of Keras files may name. Reads {kind: [names]} from the standard input, and
// writes the same with the known names alone. A dtype policy is given as Keras's envelope, and its
// class name is written.
#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>

#include "keratin/base/text.h"
#include "keratin/graph/activation.h"
#include "keratin/graph/constraint.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/initializer.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/regularizer.h"
#include "keratin/layers/registry.h"
#include "keratin/losses/registry.h"
#include "keratin/metrics/registry.h"
#include "keratin/optimizers/registry.h"

namespace keratin {
namespace {

// The makers tell an unknown class from a known one whose config lacks something by the message.
template <class Make>
bool makes(Make make, const std::string& name) {
  try {
    make(Named{name});
  } catch (const UserError& error) {
    return std::string_view(error.what()).find("Could not interpret") == std::string_view::npos;
  }
  return true;
}

bool has_layer(const std::string& name) {
  const auto names = layer_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_operation(const std::string& name) {
  const auto all = all_operations();
  return std::any_of(all.begin(), all.end(),
                     [&](const OperationDef& def) { return def.class_name == name; });
}

bool reads_policy(const Json& envelope) {
  try {
    DTypePolicy::from_json(envelope);
  } catch (const UserError&) {
    return false;
  }
  return true;
}

using Knows = std::function<bool(const std::string&)>;

const std::map<std::string, Knows>& kinds() {
  static const std::map<std::string, Knows> all = {
      {"layers", has_layer},
      {"operations", has_operation},
      {"losses", is_loss_name},
      {"metrics",
       [](const std::string& name) {
         return makes([](const Named& n) { return metric_from_user_name(n.class_name); }, name);
       }},
      {"optimizers", [](const std::string& name) { return makes(optimizer_by_name, name); }},
      {"schedules", [](const std::string& name) { return makes(schedule_by_name, name); }},
      {"initializers", Initializer::knows},
      {"regularizers", Regularizer::knows},
      {"constraints", Constraint::knows},
      {"activations", Activation::knows},
  };
  return all;
}

Json known(const std::string& kind, const Json& names) {
  Json out = Json::array();
  for (const Json& name : names.as_array()) {
    if (kind == "dtype_policies") {
      if (reads_policy(name)) out.push_back(name.at("class_name"));
    } else if (kinds().at(kind)(name.as_string())) {
      out.push_back(name);
    }
  }
  return out;
}

int run() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const Json asked = Json::parse(text);
  Json out = Json::object();
  for (const auto& [kind, names] : asked.as_object()) out[kind] = known(kind, names);
  std::cout << out.dump() << '\n';
  return 0;
}

}  // namespace
}  // namespace keratin

int main() { return keratin::run(); }
