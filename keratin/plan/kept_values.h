#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "keratin/plan/plan.h"
#include "keratin/tensor/state_version.h"

namespace keratin {

// The stable values of a plan on the host. They are computed in the first run, and again after
// state that they follow from was written. All plans of a process share values with equal recipes
// and state; a value is freed when no plan keeps it any more.
class KeptValues {
 public:
  // The values for some contents of the state. Immutable, but for what says that they are current.
  struct Set {
    uint64_t id = 0;                            // no other set has it
    std::vector<Tensor> states;                 // what they follow from, by parameter
    std::vector<std::shared_ptr<void>> values;  // by index in Plan::kept

   private:
    friend class KeptValues;
    std::vector<std::shared_ptr<const StateVersion>> watched_;
    std::vector<uint64_t> versions_;        // of what is watched
    std::atomic<uint64_t> checked_at_ = 0;  // state_writes() when the versions were last compared
  };

  explicit KeptValues(const Plan& plan);
  ~KeptValues();
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

  // The values that follow from the state as it is now; `states` has an entry for each parameter of
  // the plan, and those that are state must be defined. Any number of threads may call this.
  std::shared_ptr<const Set> current(const Plan& plan, std::span<const Tensor> states);
  // Forgets the values; the next run computes them again unless another plan keeps them.
  void release();

 private:
  static void release_outdated();
  static bool has_versions_of(const Set& set);
  bool is_current(Set& set, std::span<const Tensor> states) const;
  std::shared_ptr<Set> make(const Plan& plan, std::span<const Tensor> states) const;

  std::vector<size_t> sources_;       // the parameters that stable steps read
  std::vector<std::string> recipes_;  // of the kept values that runs read; "" for the others
  std::vector<std::vector<size_t>> states_of_;  // the parameters that each recipe names
  std::mutex lock_;
  std::shared_ptr<Set> set_;
};

// Numbers the values that the stable steps of a plan compute, and makes the plan's KeptValues. To
// be called when all slots are assigned.
void finish_kept_values(Plan& plan);

}  // namespace keratin
