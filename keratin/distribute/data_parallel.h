#pragma once

#include "keratin/base/export.h"
#include "keratin/distribute/distribution.h"

namespace keratin::distribute {

struct DataParallelOptions {
  std::optional<DeviceMesh> device_mesh = {};  // its first axis splits the batch
  std::vector<std::string> devices = {};       // or these; or all devices
  bool auto_shard_dataset = true;              // among processes; there is one
  // If true, every device has a copy of each variable and makes the optimizer's whole step, and
  // gradients are summed over all devices. If false, each variable has one owner device, which
  // sends it to the others and makes its step: less work where sending costs little. Default: true
  // on GPUs.
  std::optional<bool> mirror_variables = {};
};

// Every device runs the whole model on a slice of the batch.
class KERATIN_API DataParallel final : public Distribution {
 public:
  explicit DataParallel(const DataParallelOptions& options = {});
  std::string_view class_name() const override { return "DataParallel"; }
  bool mirrors_variables() const override { return mirrors_; }
  std::shared_ptr<const Distribution> shared() const override;

 private:
  bool mirrors_;
};

}  // namespace keratin::distribute
