#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "keratin/graph/tracer.h"

namespace keratin {

// A copy of a model that runs on a device of its own, and its slice of the batch.
struct Replica {
  Device device;
  int64_t begin = 0, end = 0;  // its samples
  int64_t batch = 0;           // the samples of all replicas

  double share() const {
    return batch == 0 ? 1 : static_cast<double>(end - begin) / static_cast<double>(batch);
  }
  bool is_first() const { return begin == 0; }
};

// Writes a batch as several replicas, and holds what each of them has written: its rows of
// variables that have a row per sample, its losses, and its terms of sums over all replicas. While
// it lives, calls of the tracer's layers belong to a replica and run on its device, wherever the
// layers live.
class Replication {
 public:
  Replication(Tracer& tracer, const std::vector<Replica>& replicas);
  ~Replication() { tracer_.replication_ = nullptr; }
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  // Calls `write` for each replica in order, and joins what they have written. Updates of variables
  // follow one another in that order. An error of `write` is thrown again with the device and the
  // layer.
  void write(const std::function<void(const Replica&)>& write);
  const Replica& replica() const { return replicas_[now_]; }  // the one that is being written

  // The replica's rows of a variable, whose value of all rows is `whole`.
  Value& rows_of(const Variable& variable, Value whole);
  // A placeholder for the sum of what each replica computes; it is known once all are written.
  Value sum(Value local);
  void add_loss(Value loss) { losses_[now_].push_back(loss); }
  // The innermost layer whose call threw.
  void note_failure(const Layer& layer);

 private:
  void join_rows();
  void join_losses();
  void join_sums();

  struct Term {
    Value local, sum;
  };

  Tracer& tracer_;
  const std::vector<Replica>& replicas_;
  size_t now_ = 0;
  std::string failed_layer_;
  std::unordered_map<Variable, Values, VariableHash> rows_;  // by replica
  std::vector<Values> losses_;                               // by replica
  std::vector<std::vector<Term>> sums_;  // in the order of the calls of `sum`; by replica
  size_t next_sum_ = 0;
};

}  // namespace keratin
