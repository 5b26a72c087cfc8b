#pragma once

#include "keratin/layers/rnn.h"
#include "keratin/ops/scan.h"

namespace keratin {

// Calls a cell for every step of a sequence, as a scan. Variables that the cell changes, such as
// the seeds of random layers inside it, are carried from step to step like the states.
class CellLoop {
 public:
  CellLoop(const Call& c, const RnnCell& cell, const RecurrentInputs& in, RecurrentFlags flags);
  RecurrentOutputs run();

 private:
  struct Step {
    Value output;
    Values states;
  };
  // One call of the cell, written by this tracer.
  Step call(Tracer& tracer, Value x, const Values& states, const Tree<Traced>& drawn) const;
  // Calls the cell once in a program of its own, to find its output's type and the variables that
  // it changes.
  void probe();
  ops::Scanned body(const Values& carries, const Values& xs) const;

  const Call& c_;
  const RnnCell& cell_;
  const RecurrentInputs& in_;
  RecurrentFlags flags_;
  Values start_;
  Tree<Traced> drawn_;
  Type output_;                    // of one step
  std::vector<Variable> changed_;  // by one step
  bool carries_output_;
};

}  // namespace keratin
