// The functions of NCCL that Keratin uses, for GPUs that are simulated by one process.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "machine.h"
#include "numbers.h"
#include "refused.h"

namespace keratin::simulator {

namespace {

// The library's numbers.
constexpr int unhandled_cuda_error = 1, invalid_argument = 4, invalid_usage = 5;
constexpr int sum_operation = 0;

// One GPU among those that sum together.
struct Communicator {
  int clique, rank, ranks;
};

// The calls for one GPU.
struct Call {
  const void* from;
  void* to;
  size_t count;
  Number type;
  Stream* stream;
};

// The calls for one clique in a group, by rank.
using Calls = std::vector<std::vector<Call>>;

struct Group {
  int depth = 0, status = 0;
  std::map<int, Calls> by_clique;
};
thread_local Group group;

Number number_of(int type) {
  constexpr int first = 6;
  constexpr std::array numbers = {Number::f16, Number::f32, Number::f64, Number::bf16};
  need(type >= first && type < first + static_cast<int>(numbers.size()), invalid_argument);
  return numbers[static_cast<size_t>(type - first)];
}

// The addends of a tensor, one of each GPU. NCCL adds them up in a ring, and every block of the
// tensor begins at another GPU; what is passed on is rounded.
template <class T>
void sum(const std::vector<Call>& parts) {
  constexpr size_t block = 64;
  const size_t ranks = parts.size();
  for (size_t i = 0; i < parts[0].count; ++i) {
    T total{};
    for (size_t step = 0; step < ranks; ++step) {
      const T part = static_cast<const T*>(parts[(i / block + step) % ranks].from)[i];
      if (step == 0)
        total = part;
      else
        narrow(widen(total) + widen(part), total);
    }
    for (const Call& call : parts) static_cast<T*>(call.to)[i] = total;
  }
}

// The k-th calls of all ranks are one sum.
std::vector<std::vector<Call>> sums_of(const Calls& calls) {
  std::vector<std::vector<Call>> sums(calls[0].size());
  for (const std::vector<Call>& of_rank : calls) {
    need(of_rank.size() == sums.size(), invalid_usage);
    for (size_t k = 0; k < sums.size(); ++k) {
      const Call& first = calls[0][k];
      need(of_rank[k].count == first.count && of_rank[k].type == first.type, invalid_usage);
      sums[k].push_back(of_rank[k]);
    }
  }
  return sums;
}

// No GPU begins before all have come so far, or goes on before all are done.
void launch(const Calls& calls) {
  std::set<Stream*> others;
  for (const std::vector<Call>& of_rank : calls)
    for (const Call& call : of_rank) others.insert(call.stream);
  Stream* const leader = calls[0][0].stream;
  others.erase(leader);
  int result = 0;
  const auto keep = [&](int next) { result = result != 0 ? result : next; };
  for (Stream* other : others) keep(wait_for(leader, other));
  keep(enqueue(leader, [sums = sums_of(calls)] {
    for (const std::vector<Call>& parts : sums)
      for (const Call& call : parts) {
        report(call.from, call.count * size_of(call.type), false);
        report(call.to, call.count * size_of(call.type), true);
      }
    for (const std::vector<Call>& parts : sums)
      with_type(parts[0].type, [&](auto number) { sum<decltype(number)>(parts); });
  }));
  for (Stream* other : others) keep(wait_for(other, leader));
  need(result == 0, unhandled_cuda_error);
}

// All or nothing: what does not fit together is found before anything is launched.
void end_group() {
  const Group ended = std::exchange(group, {});
  need(ended.status == 0, ended.status);
  for (const auto& [clique, calls] : ended.by_clique) sums_of(calls);
  for (const auto& [clique, calls] : ended.by_clique) launch(calls);
}

int connect(Communicator** made, int count, const int* gpus) {
  return status_of([&] {
    need(made != nullptr && count > 0, invalid_argument);
    std::set<int> apart;
    for (int rank = 0; rank < count; ++rank) {
      const int gpu = gpus == nullptr ? rank : gpus[rank];
      need(gpu >= 0, invalid_argument);
      need(apart.insert(gpu).second, invalid_usage);
    }
    static std::mutex lock;
    static auto* all = new std::vector<std::unique_ptr<Communicator>>();  // never destroyed
    static int cliques = 0;
    const std::lock_guard guard(lock);
    for (int rank = 0; rank < count; ++rank)
      made[rank] =
          all->emplace_back(std::make_unique<Communicator>(Communicator{cliques, rank, count}))
              .get();
    ++cliques;
  });
}

void add_call(const Communicator* communicator, const Call& call) {
  Calls& calls = group.by_clique[communicator->clique];
  calls.resize(static_cast<size_t>(communicator->ranks));
  calls[static_cast<size_t>(communicator->rank)].push_back(call);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int ncclCommInitAll(Communicator** made, int count, const int* gpus) {
  return connect(made, count, gpus);
}

int ncclGroupStart() {
  ++group.depth;
  return 0;
}

int ncclGroupEnd() {
  return status_of([] {
    need(group.depth > 0, invalid_usage);
    if (--group.depth == 0) end_group();
  });
}

// Outside of a group it is one by itself, in which other GPUs are missing: a real one would wait
// for them.
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation,
                  Communicator* communicator, Stream* stream) {
  ncclGroupStart();
  const int status = status_of([&] {
    need(communicator != nullptr && operation == sum_operation, invalid_argument);
    need(count == 0 || (from != nullptr && to != nullptr), invalid_argument);
    add_call(communicator, {from, to, count, number_of(type), stream});
  });
  if (group.status == 0) group.status = status;
  const int end = ncclGroupEnd();
  return status != 0 ? status : end;
}

const char* ncclGetErrorString(int status) {
  switch (status) {
    case 0:
      return "no error";
    case unhandled_cuda_error:
      return "unhandled cuda error";
    case invalid_argument:
      return "invalid argument";
    case invalid_usage:
      return "invalid usage";
    default:
      return "unknown result code";
  }
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace keratin::simulator
