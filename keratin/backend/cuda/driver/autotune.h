#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// One of several ways to run a node.
struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Kernel>()> make;  // nullptr where it cannot be done
};

// The kernel of the way that takes the least time on the node's device, nullptr when there is none.
// The times are taken once for all that `key` says, and the name of the winner is kept beside
// compiled kernels: the same program gives the same bits the next time. Where nothing is kept it is
// the first that can be done.
std::unique_ptr<Kernel> fastest(const Node& node, const std::string& key,
                                const std::vector<Candidate>& candidates);
// The name of that way, or of the first.
std::string name_of_fastest(const Node& node, const std::string& key,
                            const std::vector<Candidate>& candidates);
// The first that can be done.
std::unique_ptr<Kernel> first_possible(const std::vector<Candidate>& candidates);

}  // namespace keratin::cuda
