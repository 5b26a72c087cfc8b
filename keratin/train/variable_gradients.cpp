#include "keratin/train/variable_gradients.h"

#include <algorithm>

#include "keratin/graph/variable_parts.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/mirrored.h"

namespace keratin {
namespace {

void read_parts(const Variable& variable, Tracer& tracer, Values& all) {
  const VariableParts* cut = parts_of(variable);
  if (cut == nullptr) return all.push_back(tracer.read(variable));
  for (const Variable& part : cut->parts) read_parts(part, tracer, all);
}

// The gradients of all that `variables` are made of, handed out in the order of read_all_parts.
class Collector {
 public:
  Collector(const Values& by_parts, Tracer& tracer) : next_(by_parts.begin()), tracer_(tracer) {}

  Value take(const Variable& variable) {
    const VariableParts* cut = parts_of(variable);
    if (cut == nullptr) return *next_++;
    const Values parts = take_parts(*cut);
    if (parts.empty()) return {};
    if (!cut->mirrored()) return ops::concatenate(parts, *cut->axis);
    mirrors_.push_back({parts, where_});
    return {};
  }

  Values take_all(const std::vector<Variable>& variables) {
    Values all;
    for (where_ = 0; where_ < variables.size(); ++where_) all.push_back(take(variables[where_]));
    sum_mirrors(all);
    return all;
  }

 private:
  struct Mirrors {
    Values parts;
    size_t variable;

    // Where in the program the last of them is made.
    size_t made() const {
      size_t last = 0;
      for (const Value& part : parts) last = std::max(last, part.node().position());
      return last;
    }
    int64_t bytes() const {
      return parts[0].shape().count() * static_cast<int64_t>(size_of(parts[0].dtype()));
    }
  };

  // Each on the device of its part, zeros where nothing came; none where nothing came at all.
  Values take_parts(const VariableParts& cut) {
    Values parts;
    for (const Variable& part : cut.parts) parts.push_back(take(part));
    if (std::none_of(parts.begin(), parts.end(), [](Value part) { return part.defined(); }))
      return {};
    for (size_t i = 0; i < parts.size(); ++i) {
      const Variable& part = cut.parts[i];
      if (!parts[i].defined()) parts[i] = ops::zeros_like(tracer_.read(part));
      parts[i] = tracer_.bring(parts[i], part.device());
    }
    return parts;
  }

  void sum_mirrors(Values& all) {
    std::stable_sort(mirrors_.begin(), mirrors_.end(),
                     [](const Mirrors& a, const Mirrors& b) { return a.made() < b.made(); });
    const ops::Collective& collective = ops::collective();
    for (size_t first = 0; first < mirrors_.size();) {
      std::vector<Values> bucket;
      int64_t bytes = 0;
      size_t end = first;
      for (; end < mirrors_.size() && bytes < collective.bucket_bytes(); ++end) {
        bucket.push_back(mirrors_[end].parts);
        bytes += mirrors_[end].bytes();
      }
      const std::vector<Values> sums = collective.all_reduce(bucket);
      for (size_t k = 0; k < sums.size(); ++k)
        all[mirrors_[first + k].variable] = ops::mirrored(sums[k]);
      first = end;
    }
  }

  Values::const_iterator next_;
  Tracer& tracer_;
  size_t where_ = 0;
  std::vector<Mirrors> mirrors_;
};

}  // namespace

Values read_all_parts(const std::vector<Variable>& variables, Tracer& tracer) {
  Values all;
  for (const Variable& variable : variables) read_parts(variable, tracer, all);
  return all;
}

Values gradients_of(const std::vector<Variable>& variables, const Values& by_parts,
                    Tracer& tracer) {
  return Collector(by_parts, tracer).take_all(variables);
}

}  // namespace keratin
