#pragma once

#include "keratin/distribute/distribution.h"

#pragma GCC visibility push(default)

namespace keratin::distribute {

struct DataParallelOptions {
  std::optional<DeviceMesh> device_mesh = {};  // its first axis splits the batch
  std::vector<std::string> devices = {};       // or these; or all there are
  bool auto_shard_dataset = true;              // among processes, of which there is one
};

// Every device runs the whole model on a part of the batch.
class DataParallel final : public Distribution {
 public:
  explicit DataParallel(const DataParallelOptions& options = {});
  std::string_view class_name() const override { return "DataParallel"; }
  std::shared_ptr<const Distribution> shared() const override {
    return std::make_shared<DataParallel>(*this);
  }
};

}  // namespace keratin::distribute

#pragma GCC visibility pop
