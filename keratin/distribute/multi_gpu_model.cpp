#include "keratin/distribute/multi_gpu_model.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/distribute/replicas.h"
#include "keratin/graph/variable_shards.h"

namespace keratin {
namespace {

std::string python_list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return '[' + out + ']';
}

std::string quoted(const std::string& name) { return "'/" + name + '\''; }

// Moves all variables to cpu:0 or, if memory runs out, none.
void relocate(const std::vector<Variable>& variables) {
  move_all_or_none(variables, [&] {
    for (const Variable& variable : variables) variable.move_to(Device{});
  });
}

}  // namespace

std::vector<Device> Gpus::resolve() const {
  // As in Keras: all of them where there is no list or number, or it is empty or 0.
  std::vector<int> ids = ids_.value_or(std::vector<int>{});
  const bool listed = !ids.empty();
  const int all = static_cast<int>(devices(Device::Kind::gpu).size());
  const int count = count_.value_or(0) == 0 ? all : *count_;
  std::vector<std::string> numbers;
  for (const int id : ids) numbers.push_back(std::to_string(id));
  const std::string given = listed ? python_list(numbers) : std::to_string(count);
  require(listed ? ids.size() > 1 : count > 1,
          "For multi-gpu usage to be effective, call `multi_gpu_model` with `",
          listed ? "len(gpus)" : "gpus", " >= 2`. Received: `gpus=", given, '`');
  for (int i = 0; !listed && i < count; ++i) ids.push_back(i);

  std::vector<std::string> wanted{quoted("cpu:0")}, available;
  for (const int id : ids) wanted.push_back(quoted(text("gpu:", id)));
  for (const Device device : devices()) available.push_back(quoted(text(device)));
  const bool are_there = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::find(available.begin(), available.end(), name) != available.end();
  });
  require(are_there, "To call `multi_gpu_model` with `gpus=", given,
          "`, we expect the following devices to be available: ", python_list(wanted),
          ". However this machine only has: ", python_list(available), ". Try reducing `gpus`.");
  std::vector<Device> targets;
  for (const int id : ids)  // they are there, so they fit
    targets.emplace_back(Device::Kind::gpu, static_cast<int16_t>(id));
  return targets;
}

Model multi_gpu_model(const Model& model, const MultiGpuOptions& options) {
  const std::vector<Device> targets = options.gpus.resolve();
  if (options.cpu_relocation) relocate(model.layer()->variables());
  const Device merge = options.cpu_merge ? Device{} : targets[0];
  return replicated(model, {targets, merge, Split::as_keras});
}

}  // namespace keratin
