#include "keratin/ops/collective.h"

#include <algorithm>

#include "keratin/ops/all_reduce.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/shards.h"

namespace keratin::ops::collective {
namespace {

bool are_gpus(const Values& addends) {
  return std::all_of(addends.begin(), addends.end(), [](const Value& addend) {
    return addend.type().device.kind == Device::Kind::gpu;
  });
}

}  // namespace

Value send(Value addend, Device to) { return whole_on(addend, to); }

Value reduce(const Values& addends, Device to) {
  Value total = whole_on(addends[0], to);
  for (size_t i = 1; i < addends.size(); ++i) total = total + whole_on(addends[i], to);
  return total;
}

Values all_reduce(const Values& addends) {
  const Value total = reduce(addends, addends[0].type().device);
  Values all;
  for (const Value& addend : addends) all.push_back(whole_on(total, addend.type().device));
  return all;
}

std::vector<Values> all_reduce_bucket(const std::vector<Values>& bucket) {
  return are_gpus(bucket[0]) ? ops::all_reduce(bucket) : all_reduce_by_transfers(bucket);
}

Value gather(const Values& shards, int64_t axis, Device to) {
  Values there;
  for (const Value& shard : shards) there.push_back(whole_on(shard, to));
  return there.size() == 1 ? there[0] : concatenate(there, axis);
}

}  // namespace keratin::ops::collective
