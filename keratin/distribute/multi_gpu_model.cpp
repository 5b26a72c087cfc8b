#include "keratin/distribute/multi_gpu_model.h"

#include <algorithm>

#include "keratin/distribute/replicas.h"

namespace keratin {
namespace {

std::string python_list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return '[' + out + ']';
}

std::string quoted(Device device) { return text("'/", device, "'"); }

}  // namespace

std::vector<Device> Gpus::resolve() const {
  std::vector<std::string> listed;
  if (ids_)
    for (const int id : *ids_) listed.push_back(std::to_string(id));
  const int count = count_.value_or(static_cast<int>(devices(Device::Kind::gpu).size()));
  const std::string given = ids_ ? python_list(listed) : std::to_string(count);
  require(!ids_ || ids_->size() > 1,
          "For multi-gpu usage to be effective, call `multi_gpu_model` with `len(gpus) >= 2`. "
          "Received: `gpus=",
          given, '`');
  require(ids_ || count > 1,
          "For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. "
          "Received: `gpus=",
          given, '`');

  std::vector<Device> targets;
  for (int i = 0; i < (ids_ ? static_cast<int>(ids_->size()) : count); ++i)
    targets.push_back({Device::Kind::gpu, static_cast<int16_t>(ids_ ? (*ids_)[size_t(i)] : i)});
  const std::vector<Device> here = devices();
  std::vector<std::string> wanted{quoted(Device{})}, available;
  bool all = true;
  for (const Device device : targets) {
    wanted.push_back(quoted(device));
    all = all && std::find(here.begin(), here.end(), device) != here.end();
  }
  for (const Device device : here) available.push_back(quoted(device));
  require(all, "To call `multi_gpu_model` with `gpus=", given,
          "`, we expect the following devices to be available: ", python_list(wanted),
          ". However this machine only has: ", python_list(available), ". Try reducing `gpus`.");
  return targets;
}

Model multi_gpu_model(const Model& model, const MultiGpuOptions& options) {
  const std::vector<Device> targets = options.gpus.resolve();
  if (options.cpu_relocation)
    for (const Variable& variable : model.layer()->variables()) variable.move_to(Device{});
  const Device merge = options.cpu_merge ? Device{} : targets[0];
  return replicated(model, {targets, merge, Split::as_keras});
}

}  // namespace keratin
