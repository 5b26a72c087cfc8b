#include "keratin/ops/collective.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "keratin/ops/joining.h"
#include "keratin/ops/parts.h"
#include "keratin/ops/pointwise.h"

namespace keratin::ops {
namespace {

class InProcess final : public Collective {
 public:
  Value send(Value part, Device to) const override { return whole_on(part, to); }

  Value reduce(const Values& parts, Device to) const override {
    Value total = whole_on(parts[0], to);
    for (size_t i = 1; i < parts.size(); ++i) total = total + whole_on(parts[i], to);
    return total;
  }

  Values all_reduce(const Values& parts) const override {
    return shared(parts, parts[0].type().device);
  }

  // Each device makes its share of the sums, and sends them to the others.
  std::vector<Values> all_reduce(const std::vector<Values>& bucket) const override {
    std::vector<size_t> largest_first(bucket.size());
    std::iota(largest_first.begin(), largest_first.end(), size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(), [&](size_t a, size_t b) {
      return bucket[a][0].shape().count() > bucket[b][0].shape().count();
    });
    std::vector<int64_t> load(bucket[0].size(), 0);
    std::vector<Values> all(bucket.size());
    for (const size_t k : largest_first) {
      const auto least = std::min_element(load.begin(), load.end());
      *least += bucket[k][0].shape().count();
      const Values& parts = bucket[k];
      all[k] = shared(parts, parts[static_cast<size_t>(least - load.begin())].type().device);
    }
    return all;
  }

  Value gather(const Values& parts, int64_t axis, Device to) const override {
    Values there;
    for (const Value& part : parts) there.push_back(whole_on(part, to));
    return there.size() == 1 ? there[0] : concat(there, axis);
  }

 private:
  // The sum, made on one device and sent to all.
  Values shared(const Values& parts, Device home) const {
    const Value total = reduce(parts, home);
    Values all;
    for (const Value& part : parts) all.push_back(whole_on(total, part.type().device));
    return all;
  }
};

std::atomic<const Collective*> current = nullptr;

}  // namespace

const Collective& in_process_collective() {
  static const InProcess only;
  return only;
}

const Collective& collective() {
  const Collective* set = current;
  return set == nullptr ? in_process_collective() : *set;
}

void set_collective(const Collective& collective) { current = &collective; }

}  // namespace keratin::ops
