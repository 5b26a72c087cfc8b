// Where the calls that a tracer writes run, and how a batch is split over devices.
#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/graph/layer.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/mirrored.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

// The same error, with where it happened in front. What is not ours, a user's function threw.
[[noreturn]] void throw_again(const std::exception& error, const std::string& where) {
  const std::string told = where + error.what();
  if (dynamic_cast<const BackendError*>(&error) != nullptr) throw BackendError(told);
  if (dynamic_cast<const InternalError*>(&error) != nullptr) throw InternalError(told);
  throw UserError(told);
}

}  // namespace

size_t Tracer::BroughtHash::operator()(const Brought& key) const {
  const auto node = reinterpret_cast<size_t>(&key.value.node());
  return detail::mix(detail::mix(node, key.value.index()), key.device.hash());
}

// A loop runs on one device as a whole: what is inside stays there.
Value Tracer::bring(Value value, Device device) {
  if (value.block().depth() > 0) return value;
  if (ops::is_mirrored(value)) value = ops::nearest_copy(value, device);
  if (value.type().device == device) return value;
  Value& there = brought_[{value, device}];
  if (!there.defined()) there = ops::transfer(value, device);
  return there;
}

Arguments<Traced> Tracer::brought(Arguments<Traced> arguments, Device device) {
  bool all_there = true;
  arguments.each([&](const Traced& t) {
    all_there = all_there && t.value.type().device == device &&
                (!t.mask || t.mask->type().device == device);
  });
  if (all_there) return arguments;
  return arguments.map<Traced>([&](const Traced& t) {
    return Traced{bring(t.value, device),
                  t.mask ? std::optional(bring(*t.mask, device)) : std::nullopt};
  });
}

// A call runs where its layer lives, or else where its first tensor is; in a replica, where that
// runs.
std::optional<Device> Tracer::place_for(const Layer& layer,
                                        const Arguments<Traced>& arguments) const {
  Value first;
  arguments.each([&](const Traced& t) {
    if (!first.defined()) first = t.value;
  });
  if (replicas_ != nullptr || layer.places_parts() || !first.defined() || first.block().depth() > 0)
    return place_;
  return layer.device().value_or(first.type().device);
}

void Tracer::replicate(const std::vector<Replica>& replicas,
                       const std::function<void(const Replica&)>& write) {
  require(replicas_ == nullptr, "a model that runs on several devices cannot be a part of another");
  replicas_ = &replicas;
  const struct Reset {
    Tracer& tracer;
    ~Reset() { tracer.replicas_ = nullptr; }
  } reset{*this};
  std::vector<size_t> ends{losses_.size()};
  for (at_ = 0; at_ < replicas.size(); ++at_) {
    const Placement at(*this, replicas[at_].device);
    next_sum_ = 0;
    failed_.clear();
    try {
      write(replicas[at_]);
    } catch (const std::exception& error) {
      throw_again(error, text(replicas[at_].device,
                              failed_.empty() ? "" : text(", layer '", failed_, "'"), ": "));
    }
    ends.push_back(losses_.size());
  }
  join_rows();
  join_losses(ends);
  join_sums();
}

Value& Tracer::rows_of(const Variable& variable) {
  Values& rows = rows_[variable];
  rows.resize(replicas_->size());
  const Replica& mine = (*replicas_)[at_];
  require(variable.shape()[0] == mine.batch, "variable '", variable.path(), "' holds the state of ",
          variable.shape()[0], " samples; the batch has ", mine.batch);
  if (!rows[at_].defined())
    rows[at_] = ops::slice_axis(entries_.at(variable).current, 0, mine.begin, mine.end);
  return rows[at_];
}

void Tracer::join_rows() {
  for (const Variable& variable : variables_) {
    const auto found = rows_.find(variable);
    if (found == rows_.end()) continue;
    Values parts;
    for (const Value& part : found->second) parts.push_back(bring(part, variable.device()));
    entries_.at(variable).current = parts.size() == 1 ? parts[0] : ops::concatenate(parts, 0);
  }
  rows_.clear();
}

// A scalar is a mean over a replica's samples: the mean over all weighs it by their number.
void Tracer::join_losses(const std::vector<size_t>& ends) {
  const size_t first = ends[0], count = ends[1] - first;
  Values joined;
  for (size_t k = 0; k < count; ++k) {
    const Device home = losses_[first + k].type().device;
    Values parts;
    for (size_t r = 0; r < replicas_->size(); ++r) {
      ensure(ends[r + 1] - ends[r] == count, "replicate: replicas added ", count, " and ",
             ends[r + 1] - ends[r], " losses");
      const Value loss = losses_[ends[r] + k];
      parts.push_back(loss.rank() > 0 ? loss : loss * (*replicas_)[r].share());
    }
    joined.push_back(parts[0].rank() > 0 ? ops::collective().gather(parts, 0, home)
                                         : ops::collective().reduce(parts, home));
  }
  losses_.resize(first);
  losses_.insert(losses_.end(), joined.begin(), joined.end());
}

// The sum is not known before the last replica is written, so each gets a transfer whose input is
// exchanged when it is.
Value Tracer::sum_over_replicas(Value local) {
  if (replicas_ == nullptr || replicas_->size() == 1) return local;
  require(local.block().depth() == 0, "a sum over replicas cannot be made inside a loop over time");
  const Device device = (*replicas_)[at_].device;
  if (ops::is_sharded(local)) local = ops::whole_on(local, device);
  const Value sum = ops::transfer(local, device);
  if (next_sum_ == sums_.size()) sums_.emplace_back();
  sums_[next_sum_++].push_back({local, sum});
  return sum;
}

void Tracer::join_sums() {
  if (sums_.empty()) return;
  for (const std::vector<Part>& parts : sums_) {
    ensure(parts.size() == replicas_->size(), "replicate: ", parts.size(), " of ",
           replicas_->size(), " replicas came to a sum");
    Values locals;
    for (const Part& part : parts) locals.push_back(part.local);
    const Values sums = ops::collective().all_reduce(locals);
    for (size_t r = 0; r < parts.size(); ++r) parts[r].sum.node().set_input(0, sums[r]);
  }
  sums_.clear();
  block().sort();
}

}  // namespace keratin
