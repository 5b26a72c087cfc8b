#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fiber.h"
#include "launch.h"
#include "touches.h"

namespace keratin::simulator {

inline constexpr unsigned warp_size = 32, slot_bytes = 32;

struct Thread;

// Threads that wait for each other. Those that have ended are not waited for.
struct Meeting {
  std::vector<Thread*> waiting;
  unsigned alive = 0;
};

struct Warp {
  Meeting meeting;
  const char* what = nullptr;  // what the first one came for
  unsigned ended = 0;          // lanes
  // Two buffers in turn: a thread may still read the exchanged values while others meet again.
  unsigned turn = 0;
  unsigned met[2] = {};
  bool has_multiplied[2] = {};
  float products[2][16][8];
  alignas(16) char slots[2][warp_size * slot_bytes];
};

struct Block {
  unsigned number = 0;  // in the grid
  Meeting meeting;
  std::vector<Warp> warps;
  std::vector<char> shared;
  // How often the cluster had met when others last read the shared memory, and when threads ended.
  int read_by_others = -1, ended = std::numeric_limits<int>::max();
};

// A copy of 16 bytes that is not done.
struct Fetch {
  char* to;
  const void* from;
  unsigned bytes, there;
};

struct Thread {
  ThreadView view;
  Block* block = nullptr;
  Warp* warp = nullptr;
  unsigned number = 0, lane = 0;  // in its block, in its warp
  unsigned turn = 0;              // where it met last
  Moment::Passed passed;
  int cluster_meetings = 0;
  std::unique_ptr<Fiber> fiber;
  std::vector<std::vector<Fetch>> fetches;  // groups; the last one is open
};

// The current launch: one at a time in a process.
class Launch {
 public:
  Launch(const ModuleInfo& module, const KernelInfo& kernel, const Grid& grid, void** arguments,
         bool backwards);
  std::string run();

  Thread& self() { return *self_; }
  Block& block(unsigned rank) { return blocks_[rank]; }
  unsigned cluster_size() const { return kernel_.cluster; }
  Meeting& cluster_meeting() { return cluster_meeting_; }

  // The calling thread waits until all have come; the last one goes on at once.
  void meet(Meeting& meeting);

  // The calling thread reads or writes memory.
  void touch(const void* address, size_t bytes, Touch how);

  // The calling thread reads shared memory of another block.
  void read_block(Block& block);

  // The launch is given up; the thread that found the problem is never resumed.
  [[noreturn]] void fail(const std::string& problem);

  static void each_touched(const Touches::Visit& visit) { in_global_.each(visit); }

 private:
  enum class Space { own, shared, global, none };
  Space space_of(const void* address, size_t bytes) const;
  Moment now() const;
  void complain_of(const std::optional<Touches::Race>& race, Touch how);
  std::string where() const;
  bool release_if_complete(Meeting& meeting, Thread* last);
  void prepare(const Index3& first_block);
  void run_cluster(const Index3& first_block);
  bool resume(Thread& thread);
  void call() { kernel_.call(arguments_); }
  void leave(Thread& thread);
  void abandon();
  static std::unique_ptr<Fiber> take_fiber();

  static constexpr const char* ends_early =
      "a block may have ended when another reads its shared memory";

  static inline std::vector<std::unique_ptr<Fiber>> free_fibers_;
  static inline Touches in_shared_{true}, in_global_{false};

  const ModuleInfo& module_;
  const KernelInfo& kernel_;
  const Grid& grid_;
  void** const arguments_;
  const bool backwards_;
  std::vector<Block> blocks_;  // of the cluster that is running
  std::vector<Thread> threads_;
  Meeting cluster_meeting_;
  std::vector<Thread*> ready_, turn_;
  Thread* self_ = nullptr;
  std::string problem_;
};

extern Launch* launch;

}  // namespace keratin::simulator
