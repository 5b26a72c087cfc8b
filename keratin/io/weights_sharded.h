#pragma once

#include <filesystem>
#include <map>

#include "keratin/io/weights_h5.h"

namespace keratin::io {

// Keras 3's weights in several files: x.weights.json lists, for each group, the files of
// x_00000.weights.h5, … that have its variables. A shard is opened on first use.
class ShardedWeights final : public WeightSource {
 public:
  explicit ShardedWeights(const std::filesystem::path& index);
  size_t count(const std::string& group) const override;
  bool has(const std::string& group, const std::string& name) const override;
  Dims dims(const std::string& group, const std::string& name) const override;
  Tensor read(const std::string& group, const std::string& name) const override;
  std::string group_of(const std::string& object) const override;

 private:
  const H5Weights& shard(const std::string& name) const;
  // The shard that has a variable, or null.
  const H5Weights* find(const std::string& group, const std::string& name) const;
  // The shard that has a variable; an error if none has it.
  const H5Weights& shard_of(const std::string& group, const std::string& name) const;

  std::filesystem::path index_;
  std::map<std::string, std::vector<std::string>> shards_of_;  // by group
  mutable std::map<std::string, H5Weights> opened_;
  mutable std::optional<std::map<std::string, std::string>> by_name_;  // as in H5Weights
};

// Writes weights in shards of at most `max_shard` bytes. Files are replaced only after all shards
// are written.
void write_sharded(const std::filesystem::path& index, const std::vector<SavedObject>& objects,
                   double max_shard);

}  // namespace keratin::io
