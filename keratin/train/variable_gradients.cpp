#include "keratin/train/variable_gradients.h"
#include "keratin/graph/tracer.h"

#include <algorithm>

#include "keratin/graph/variable_shards.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/mirrored.h"

namespace keratin {
namespace {

void read_shards(const Variable& variable, Tracer& tracer, Values& all) {
  const VariableShards* sharded = shards_of(variable);
  if (sharded == nullptr) return all.push_back(tracer.read(variable));
  for (const Variable& shard : sharded->shards) read_shards(shard, tracer, all);
}

// Joins the gradients of shards, which come in the order of read_all_shards.
class GradientJoin {
 public:
  GradientJoin(const Values& by_shard, Tracer& tracer) : next_(by_shard.begin()), tracer_(tracer) {}

  Values join_all(const std::vector<Variable>& variables) {
    Values all;
    for (index_ = 0; index_ < variables.size(); ++index_) all.push_back(join(variables[index_]));
    sum_mirrored(all);
    return all;
  }

 private:
  // The gradients of the copies of a mirrored variable.
  struct Mirrored {
    Values copies;
    size_t variable;  // its index

    // The position in the program of the node that makes the last of them.
    size_t ready_at() const {
      size_t last = 0;
      for (const Value& copy : copies) last = std::max(last, copy.node().position());
      return last;
    }
    int64_t bytes() const {
      return copies[0].shape().count() * static_cast<int64_t>(size_of(copies[0].dtype()));
    }
  };

  Value join(const Variable& variable) {
    const VariableShards* sharded = shards_of(variable);
    if (sharded == nullptr) return *next_++;
    const Values shards = join_each(*sharded);
    if (shards.empty()) return {};
    if (!sharded->mirrored()) return ops::concatenate(shards, *sharded->axis);
    mirrored_.push_back({shards, index_});
    return {};
  }

  // Each on the device of its shard, zeros where a shard has no gradient; none if no shard has one.
  Values join_each(const VariableShards& sharded) {
    Values gradients;
    for (const Variable& shard : sharded.shards) gradients.push_back(join(shard));
    if (std::none_of(gradients.begin(), gradients.end(), [](Value g) { return g.defined(); }))
      return {};
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Variable& shard = sharded.shards[i];
      if (!gradients[i].defined()) gradients[i] = ops::zeros_like(tracer_.read(shard));
      gradients[i] = tracer_.bring(gradients[i], shard.device());
    }
    return gradients;
  }

  void sum_mirrored(Values& all) {
    std::stable_sort(mirrored_.begin(), mirrored_.end(), [](const Mirrored& a, const Mirrored& b) {
      return a.ready_at() < b.ready_at();
    });
    for (size_t first = 0; first < mirrored_.size();) {
      std::vector<Values> bucket;
      int64_t bytes = 0;
      size_t end = first;
      for (; end < mirrored_.size() && bytes < ops::collective::bucket_bytes; ++end) {
        bucket.push_back(mirrored_[end].copies);
        bytes += mirrored_[end].bytes();
      }
      const std::vector<Values> sums = ops::collective::all_reduce_bucket(bucket);
      for (size_t k = 0; k < sums.size(); ++k)
        all[mirrored_[first + k].variable] = ops::mirrored(sums[k]);
      first = end;
    }
  }

  Values::const_iterator next_;
  Tracer& tracer_;
  size_t index_ = 0;
  std::vector<Mirrored> mirrored_;
};

}  // namespace

Values read_all_shards(const std::vector<Variable>& variables, Tracer& tracer) {
  Values all;
  for (const Variable& variable : variables) read_shards(variable, tracer, all);
  return all;
}

std::vector<Variable> with_shards(const std::vector<Variable>& variables) {
  std::vector<Variable> all = variables;
  for (size_t i = 0; i < all.size(); ++i)  // grows: shards may have shards
    if (const VariableShards* sharded = shards_of(all[i]); sharded != nullptr)
      all.insert(all.end(), sharded->shards.begin(), sharded->shards.end());
  return all;
}

Values join_gradients(const std::vector<Variable>& variables, const Values& by_shard,
                      Tracer& tracer) {
  return GradientJoin(by_shard, tracer).join_all(variables);
}

}  // namespace keratin
