#pragma once

#include "keratin/base/export.h"
#include "keratin/distribute/distribution.h"

namespace keratin::distribute {

struct DataParallelOptions {
  std::optional<DeviceMesh> device_mesh = {};  // its first axis splits the batch
  std::vector<std::string> devices = {};       // or these; or all there are
  bool auto_shard_dataset = true;              // among processes, of which there is one
  // Every device has its own copy of the variables and takes the optimizer's whole step, and
  // gradients are summed over all of them. Otherwise a variable lives on one device, which sends it
  // to the others and takes its step: less work where sending costs little. Unless said, GPUs
  // mirror.
  std::optional<bool> mirror_variables = {};
};

// Every device runs the whole model on a part of the batch.
class KERATIN_API DataParallel final : public Distribution {
 public:
  explicit DataParallel(const DataParallelOptions& options = {});
  std::string_view class_name() const override { return "DataParallel"; }
  bool mirrors_variables() const override { return mirrors_; }
  std::shared_ptr<const Distribution> shared() const override {
    return std::make_shared<DataParallel>(*this);
  }

 private:
  bool mirrors_;
};

}  // namespace keratin::distribute
