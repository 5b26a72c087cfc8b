#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// One of several kernels that can run a node.
struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Kernel>()> make;  // nullptr where it cannot be made
};

// The kernel of the candidate that is fastest on the node's device; nullptr where none can be made.
// Candidates are timed once per `key`, and the winner's name is cached with the compiled kernels,
// so the next process gives the same bits. Without a cache, the first that can be made.
std::unique_ptr<Kernel> fastest(const Node& node, const std::string& key,
                                const std::vector<Candidate>& candidates);
// The name of that candidate, or of the first.
std::string name_of_fastest(const Node& node, const std::string& key,
                            const std::vector<Candidate>& candidates);
// The kernel of the first candidate that can be made.
std::unique_ptr<Kernel> first_possible(const std::vector<Candidate>& candidates);

}  // namespace keratin::cuda
