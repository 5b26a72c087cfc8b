#include "keratin/graph/replication.h"

#include "keratin/base/text.h"
#include "keratin/graph/layer.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

// Throws an error of the same class, with where it happened in front. An error that is not ours
// comes from a user's function.
[[noreturn]] void throw_again(const std::exception& error, const std::string& where) {
  const std::string message = where + error.what();
  if (dynamic_cast<const BackendError*>(&error) != nullptr) throw BackendError(message);
  if (dynamic_cast<const InternalError*>(&error) != nullptr) throw InternalError(message);
  throw UserError(message);
}

}  // namespace

Replication::Replication(Tracer& tracer, const std::vector<Replica>& replicas)
    : tracer_(tracer), replicas_(replicas), losses_(replicas.size()) {
  require(tracer.replication_ == nullptr,
          "a model that runs on several devices cannot be a part of another");
  tracer.replication_ = this;
}

void Replication::write(const std::function<void(const Replica&)>& write) {
  for (now_ = 0; now_ < replicas_.size(); ++now_) {
    const Replica& replica = replicas_[now_];
    const PlacementScope scope(tracer_.placement(), replica.device);
    next_sum_ = 0;
    failed_layer_.clear();
    try {
      write(replica);
    } catch (const std::exception& error) {
      const std::string layer = failed_layer_.empty() ? "" : text(", layer '", failed_layer_, "'");
      throw_again(error, text(replica.device, layer, ": "));
    }
  }
  tracer_.replication_ = nullptr;  // what is joined is of the whole batch
  join_rows();
  join_losses();
  join_sums();
}

void Replication::note_failure(const Layer& layer) {
  if (failed_layer_.empty()) failed_layer_ = layer.name();
}

Value& Replication::rows_of(const Variable& variable, Value whole) {
  Values& rows = rows_[variable];
  rows.resize(replicas_.size());
  require(variable.shape()[0] == replica().batch, "variable '", variable.path(),
          "' holds the state of ", variable.shape()[0], " samples; the batch has ",
          replica().batch);
  if (!rows[now_].defined()) rows[now_] = ops::slice_axis(whole, 0, replica().begin, replica().end);
  return rows[now_];
}

void Replication::join_rows() {
  for (const Variable& variable : tracer_.variables()) {
    const auto found = rows_.find(variable);
    if (found == rows_.end()) continue;
    Values rows;
    for (const Value& some : found->second) rows.push_back(tracer_.bring(some, variable.device()));
    tracer_.bind(variable, rows.size() == 1 ? rows[0] : ops::concatenate(rows, 0));
  }
}

// A scalar is a mean over a replica's samples: the mean over the batch weighs it by their number.
void Replication::join_losses() {
  const size_t count = losses_[0].size();
  for (size_t k = 0; k < count; ++k) {
    const Device device = losses_[0][k].type().device;
    Values terms;
    for (size_t r = 0; r < replicas_.size(); ++r) {
      ensure(losses_[r].size() == count, "replicate: replicas added ", count, " and ",
             losses_[r].size(), " losses");
      const Value loss = losses_[r][k];
      terms.push_back(loss.rank() > 0 ? loss : loss * replicas_[r].share());
    }
    tracer_.add_loss(terms[0].rank() > 0 ? ops::collective::gather(terms, 0, device)
                                         : ops::collective::reduce(terms, device));
  }
}

// The sum is not known before the last replica is written, so each replica gets a transfer whose
// input is replaced by the sum in the end.
Value Replication::sum(Value local) {
  if (replicas_.size() == 1) return local;
  require(local.block().depth() == 0, "a sum over replicas cannot be made inside a loop over time");
  const Device device = replica().device;
  if (ops::is_sharded(local)) local = ops::whole_on(local, device);
  const Value sum = ops::transfer(local, device);
  if (next_sum_ == sums_.size()) sums_.emplace_back();
  sums_[next_sum_++].push_back({local, sum});
  return sum;
}

void Replication::join_sums() {
  if (sums_.empty()) return;
  for (const std::vector<Term>& terms : sums_) {
    ensure(terms.size() == replicas_.size(), "replicate: ", terms.size(), " of ", replicas_.size(),
           " replicas came to a sum");
    Values locals;
    for (const Term& term : terms) locals.push_back(term.local);
    const Values sums = ops::collective::all_reduce(locals);
    for (size_t r = 0; r < terms.size(); ++r) terms[r].sum.node().set_input(0, sums[r]);
  }
  tracer_.block().sort();
}

}  // namespace keratin
