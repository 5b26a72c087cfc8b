#include "launch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>
#include <vector>

#include "fiber.h"
#include "memory.h"
#include "mode.h"
#include "numbers.h"
#include "touches.h"

namespace keratin::simulator {

namespace {

constexpr unsigned warp_size = 32, slot_bytes = 32;
constexpr unsigned first_shared_address = 1024;  // the system's own part comes before

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
  // Two rooms in turn: who has met may still look at what was brought while others meet again.
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

// 16 bytes on their way.
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

// The launch that is under way: one at a time in a process.
class Launch {
 public:
  Launch(const ModuleInfo& module, const KernelInfo& kernel, const Grid& grid, void** arguments,
         bool backwards)
      : module_(module),
        kernel_(kernel),
        grid_(grid),
        arguments_(arguments),
        backwards_(backwards) {
    const unsigned threads = grid.threads.x * grid.threads.y * grid.threads.z;
    blocks_.resize(kernel.cluster);
    threads_.resize(size_t{threads} * kernel.cluster);
  }

  std::string run() {
    in_global_.forget();
    const unsigned clusters = grid_.blocks.x / kernel_.cluster;
    const uint64_t count = uint64_t{clusters} * grid_.blocks.y * grid_.blocks.z;
    for (uint64_t i = 0; i < count && problem_.empty(); ++i) {
      const uint64_t at = backwards_ ? count - 1 - i : i;
      run_cluster({static_cast<unsigned>(at % clusters) * kernel_.cluster,
                   static_cast<unsigned>(at / clusters % grid_.blocks.y),
                   static_cast<unsigned>(at / clusters / grid_.blocks.y)});
    }
    return problem_;
  }

  Thread& self() { return *self_; }
  Block& block(unsigned rank) { return blocks_[rank]; }
  unsigned cluster_size() const { return kernel_.cluster; }
  Meeting& cluster_meeting() { return cluster_meeting_; }

  // The calling thread waits until all have come; whoever comes last goes on at once.
  void meet(Meeting& meeting) {
    meeting.waiting.push_back(self_);
    if (release_if_complete(meeting, self_)) return;
    self_->fiber->pause();
  }

  // The calling thread reads or writes memory.
  void touch(const void* address, size_t bytes, Touch how) {
    const auto first = reinterpret_cast<uintptr_t>(address);
    switch (space_of(address, bytes)) {
      case Space::own:
        return;
      case Space::shared:
        if (how == Touch::read && !in_shared_.has_written(first, bytes))
          fail("shared memory is read that nobody wrote");
        return complain_of(in_shared_.add(first, bytes, how, now()), how);
      case Space::global:
        return complain_of(in_global_.add(first, bytes, how, now()), how);
      case Space::none:
        fail(std::to_string(bytes) + " bytes are not all memory of the GPU's");
    }
  }

  // The calling thread reads shared memory of another block.
  void read_block(Block& block) {
    if (&block == self_->block) return;
    if (block.ended <= self_->cluster_meetings) fail(ends_early);
    block.read_by_others = std::max(block.read_by_others, self_->cluster_meetings);
  }

  // The launch is given up; the thread that found the problem is never resumed.
  [[noreturn]] void fail(const std::string& problem) {
    problem_ = problem + where();
    self_->fiber->pause();
    std::abort();
  }

 private:
  enum class Space { own, shared, global, none };
  Space space_of(const void* address, size_t bytes) const {
    const auto within = [&](const void* begin, const void* end) {
      return address >= begin && static_cast<const char*>(address) + bytes <= end;
    };
    if (self_->fiber->has(address)) return Space::own;
    if (within(module_.shared_begin, module_.shared_end)) return Space::shared;
    for (const Block& block : blocks_)
      if (within(block.shared.data(), block.shared.data() + block.shared.size()))
        return Space::shared;
    if (within(module_.begin, module_.shared_begin)) return Space::own;  // constants
    if (within(&runtime(), &runtime() + 1) ||
        within(threads_.data(), threads_.data() + threads_.size()))
      return Space::own;  // what thread it is
    return memory().find(address, bytes) == Memory::Place::reachable ? Space::global : Space::none;
  }

  Moment now() const {
    const unsigned block = self_->block->number, number = self_->number;
    return {block / kernel_.cluster, block, number / warp_size, number, self_->passed};
  }

  void complain_of(const std::optional<Touches::Race>& race, Touch how) {
    if (!race) return;
    const auto name = [](Touch touch) { return touch == Touch::read ? "reads" : "writes"; };
    fail(std::string("a thread ") + name(how) + " what thread " +
         std::to_string(race->other.thread) + " of block " + std::to_string(race->other.block) +
         ' ' + name(race->how) + ", and no barrier is between them");
  }

  std::string where() const {
    const auto text = [](const Index3& i) {
      std::ostringstream out;
      out << '(' << i.x << ", " << i.y << ", " << i.z << ')';
      return out.str();
    };
    return std::string(": ") + kernel_.name + ", block " + text(self_->view.block) + ", thread " +
           text(self_->view.thread);
  }

  bool release_if_complete(Meeting& meeting, Thread* last) {
    if (meeting.waiting.empty() || meeting.waiting.size() < meeting.alive) return false;
    for (Thread* thread : meeting.waiting)
      if (thread != last) ready_.push_back(thread);
    meeting.waiting.clear();
    return true;
  }

  void prepare(const Index3& first_block) {
    const unsigned per_block = static_cast<unsigned>(threads_.size()) / kernel_.cluster;
    std::fill(module_.shared_begin, module_.shared_end, '\xff');
    in_shared_.forget();
    cluster_meeting_ = {.waiting = {}, .alive = static_cast<unsigned>(threads_.size())};
    for (unsigned b = 0; b < kernel_.cluster; ++b) {
      Block& block = blocks_[b];
      block.number =
          first_block.x + b + grid_.blocks.x * (first_block.y + grid_.blocks.y * first_block.z);
      block.meeting = {.waiting = {}, .alive = per_block};
      block.read_by_others = -1;
      block.ended = std::numeric_limits<int>::max();
      block.warps.assign((per_block + warp_size - 1) / warp_size, Warp());
      block.shared.assign(grid_.shared_bytes, '\xff');
      for (unsigned t = 0; t < per_block; ++t) {
        Thread& thread = threads_[b * per_block + t];
        thread.block = &block;
        thread.warp = &block.warps[t / warp_size];
        thread.lane = t % warp_size;
        thread.number = t;
        thread.fetches.clear();
        thread.passed = {};
        thread.cluster_meetings = 0;
        thread.warp->meeting.alive++;
        const unsigned x = grid_.threads.x, y = grid_.threads.y;
        thread.view = {.thread = {t % x, t / x % y, t / x / y},
                       .block = {first_block.x + b, first_block.y, first_block.z},
                       .block_size = grid_.threads,
                       .grid_size = grid_.blocks,
                       .shared = block.shared.data()};
      }
    }
  }

  void run_cluster(const Index3& first_block) {
    prepare(first_block);
    ready_.clear();
    for (Thread& thread : threads_) ready_.push_back(&thread);
    if (backwards_) std::reverse(ready_.begin(), ready_.end());
    size_t ended = 0;
    while (!ready_.empty()) {
      turn_.swap(ready_);
      ready_.clear();
      for (Thread* thread : turn_) {
        if (resume(*thread)) {
          ++ended;
          leave(*thread);
        }
        if (!problem_.empty()) return abandon();
      }
    }
    if (ended == threads_.size()) return;
    problem_ = std::to_string(threads_.size() - ended) +
               " threads wait for others that never come" + where();
    abandon();
  }

  bool resume(Thread& thread) {
    self_ = &thread;
    runtime().self = &thread.view;
    if (thread.fiber == nullptr) {
      thread.fiber = take_fiber();
      thread.fiber->begin([](void* launch) { static_cast<Launch*>(launch)->call(); }, this);
    }
    return thread.fiber->resume();
  }
  void call() { kernel_.call(arguments_); }

  void leave(Thread& thread) {
    free_fibers_.push_back(std::move(thread.fiber));
    const auto is_under_way = [](const auto& group) { return !group.empty(); };
    if (std::any_of(thread.fetches.begin(), thread.fetches.end(), is_under_way))
      problem_ = "a thread ends without waiting for what it fetches" + where();
    if (!thread.warp->meeting.waiting.empty())
      problem_ = "a thread ends while others of its warp wait for it" + where();
    if (thread.cluster_meetings <= thread.block->read_by_others) problem_ = ends_early + where();
    thread.block->ended = std::min(thread.block->ended, thread.cluster_meetings);
    thread.warp->ended |= 1U << thread.lane;
    for (Meeting* meeting : {&thread.warp->meeting, &thread.block->meeting, &cluster_meeting_}) {
      --meeting->alive;
      release_if_complete(*meeting, nullptr);
    }
  }

  void abandon() {
    for (Thread& thread : threads_)
      if (thread.fiber != nullptr) free_fibers_.push_back(std::move(thread.fiber));
  }

  static std::unique_ptr<Fiber> take_fiber() {
    if (free_fibers_.empty()) return std::make_unique<Fiber>();
    auto fiber = std::move(free_fibers_.back());
    free_fibers_.pop_back();
    return fiber;
  }

  static constexpr const char* ends_early =
      "a block may have ended when another reads its shared memory";

  static inline std::vector<std::unique_ptr<Fiber>> free_fibers_;
  static inline Touches in_shared_, in_global_;

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

Launch* launch = nullptr;

void touch(const void* address, unsigned long bytes, Touch how) {
  static const bool is_checked = is_asked_for("checked");
  if (is_checked) launch->touch(address, bytes, how);
}

void meet_block() {
  Thread& self = launch->self();
  launch->meet(self.block->meeting);
  ++self.passed.of_block;
}
void meet_cluster(bool in_order) {
  Thread& self = launch->self();
  launch->meet(launch->cluster_meeting());
  ++self.cluster_meetings;
  if (!in_order) return;
  ++self.passed.of_cluster;
  ++self.passed.of_block;
}

const char* meet_warp(unsigned mask, const char* what, const void* mine, unsigned bytes) {
  Thread& self = launch->self();
  Warp& warp = *self.warp;
  if (mask != ~0U) launch->fail("only whole warps can meet here");
  if ((mask & warp.ended) != 0) launch->fail(std::string(what) + " names lanes that have ended");
  const bool first = warp.meeting.waiting.empty();
  if (!first && warp.what != what && std::strcmp(warp.what, what) != 0)
    launch->fail(std::string("a warp meets at ") + warp.what + " and at " + what);
  const unsigned turn = first ? warp.turn ^ 1 : warp.turn;
  if (first) {
    warp.what = what;
    warp.turn = turn;
    warp.met[turn] = 0;
    warp.has_multiplied[turn] = false;
  }
  warp.met[turn] |= 1U << self.lane;
  std::memcpy(warp.slots[turn] + slot_bytes * self.lane, mine, bytes);
  self.turn = turn;
  launch->meet(warp.meeting);
  if (std::strcmp(what, "syncwarp") == 0) ++self.passed.of_warp;  // others say nothing of memory
  return warp.slots[turn];
}

unsigned lanes_met() {
  const Thread& self = launch->self();
  return self.warp->met[self.turn];
}

char* at_shared(Block& block, unsigned address, unsigned bytes, Touch how) {
  const unsigned offset = address - first_shared_address;
  if (address < first_shared_address || offset + bytes > block.shared.size())
    launch->fail("an address is outside of shared memory");
  char* const place = block.shared.data() + offset;
  touch(place, bytes, how);
  return place;
}

unsigned to_shared(const void* generic) {
  const std::vector<char>& shared = launch->self().block->shared;
  const auto offset = static_cast<const char*>(generic) - shared.data();
  if (offset < 0 || offset > static_cast<ptrdiff_t>(shared.size()))
    launch->fail("an address is not of shared memory");
  return static_cast<unsigned>(offset) + first_shared_address;
}

float load_of_cluster(unsigned address, unsigned rank) {
  if (rank >= launch->cluster_size()) launch->fail("the cluster has no such block");
  launch->read_block(launch->block(rank));
  float value;
  std::memcpy(&value, at_shared(launch->block(rank), address, sizeof value, Touch::read),
              sizeof value);
  return value;
}

// Lane 8 i + r gives where row r of matrix i begins, which has 8 rows of 8 numbers of 16 bits. A
// lane gets two neighbours of each matrix: of row lane / 4, or of column lane / 4.
void load_matrices(unsigned address, unsigned count, bool transposed, unsigned* words) {
  Block& block = *launch->self().block;
  if (address % 16 != 0) launch->fail("a row of a matrix begins at no multiple of 16 bytes");
  const char* slots = meet_warp(~0U, transposed ? "ldmatrix.trans" : "ldmatrix", &address, 4);
  const unsigned lane = launch->self().lane;
  for (unsigned i = 0; i < count; ++i) {
    uint16_t two[2];
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned major = lane / 4, minor = lane % 4 * 2 + e;
      const unsigned row = transposed ? minor : major, column = transposed ? major : minor;
      unsigned begin;
      std::memcpy(&begin, slots + slot_bytes * (8 * i + row), sizeof begin);
      std::memcpy(&two[e], at_shared(block, begin + 2 * column, 2, Touch::read), 2);
    }
    words[i] = two[0] | unsigned{two[1]} << 16;
  }
}

void fetch(unsigned to, const void* from, unsigned bytes, unsigned there) {
  Thread& self = launch->self();
  if (to % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0)
    launch->fail("what is fetched lies at no multiple of its size");
  if (self.fetches.empty()) self.fetches.emplace_back();
  if (there > 0) touch(from, there, Touch::read);
  self.fetches.back().push_back(
      {at_shared(*self.block, to, bytes, Touch::write), from, bytes, there});
}

void end_fetches() {
  auto& groups = launch->self().fetches;
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}

// As late as it may be.
void wait_for_fetches(unsigned groups_left) {
  auto& groups = launch->self().fetches;
  while (groups.size() > groups_left + 1) {
    for (const Fetch& f : groups.front()) {
      touch(f.to, f.bytes, Touch::write);
      std::memset(f.to, 0, f.bytes);
      std::memcpy(f.to, f.from, f.there);
    }
    groups.erase(groups.begin());
  }
}

// What a warp multiplies by tensor cores. Of a, 16 rows and `depth` columns, lane 4 r + p has rows
// r and r + 8 in words 0, 2 and 1, 3; of b, `depth` rows and 8 columns, it has column r in words 4
// and 5. A word holds `per_word` neighbours of the depth, word p of four, and a second one behind
// the first four.
template <unsigned per_word, class Number>
void multiply_whole(const char* slots, float (&products)[16][8], Number number) {
  constexpr unsigned depth = 8 * per_word;
  double a[16][depth], b[depth][8];
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    unsigned words[6];
    std::memcpy(words, slots + slot_bytes * lane, sizeof words);
    const unsigned r = lane / 4, p = lane % 4;
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned e = 0; e < per_word; ++e) {
        const unsigned k = (4 * half + p) * per_word + e;
        a[r][k] = number(words[2 * half], e);
        a[r + 8][k] = number(words[2 * half + 1], e);
        b[k][r] = number(words[4 + half], e);
      }
  }
  for (unsigned row = 0; row < 16; ++row) {
    double totals[8] = {};  // of exact products, rounded once
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < 8; ++column) totals[column] += a[row][k] * b[k][column];
    std::copy_n(totals, 8, products[row]);
  }
}

// Whoever comes to it first when all have met multiplies for all.
template <unsigned per_word, class Number>
void multiply(const char* what, float* sums, const unsigned* a, const unsigned* b, Number number) {
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const char* slots = meet_warp(~0U, what, mine, sizeof mine);
  const Thread& self = launch->self();
  Warp& warp = *self.warp;
  auto& products = warp.products[self.turn];
  if (!warp.has_multiplied[self.turn]) multiply_whole<per_word>(slots, products, number);
  warp.has_multiplied[self.turn] = true;
  for (unsigned i = 0; i < 4; ++i)
    sums[i] += products[self.lane / 4 + 8 * (i / 2)][self.lane % 4 * 2 + i % 2];
}

void multiply_tf32(float* sums, const unsigned* a, const unsigned* b) {
  multiply<1>("mma.tf32", sums, a, b, [](unsigned word, unsigned) {
    word &= 0xffffe000U;  // it has no more bits
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  });
}
void multiply_f16(float* sums, const unsigned* a, const unsigned* b) {
  multiply<2>("mma.f16", sums, a, b,
              [](unsigned word, unsigned e) { return from_f16(uint16_t(word >> 16 * e)); });
}
void multiply_bf16(float* sums, const unsigned* a, const unsigned* b) {
  multiply<2>("mma.bf16", sums, a, b,
              [](unsigned word, unsigned e) { return from_bf16(uint16_t(word >> 16 * e)); });
}

// By Newton's steps on erf, or on erfc where that has more digits.
double erfinv(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  const double left = 1 - std::abs(x), log = std::log(left * (2 - left));
  const double b = 2 / (M_PI * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(b * b - log / 0.147) - b);  // Winitzki's; good to 2e-3
  for (int step = 0; step < 4; ++step) {
    const double off = left < 0.5 ? left - std::erfc(y) : std::erf(y) - std::abs(x);
    const double newton = off / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= newton / (1 + y * newton);  // Halley's
  }
  return std::copysign(y, x);
}

}  // namespace

Runtime& runtime() {
  static Runtime all{
      .self = nullptr,
      .touch = touch,
      .meet_block = meet_block,
      .meet_cluster = meet_cluster,
      .meet_warp = meet_warp,
      .lanes_met = lanes_met,
      .to_shared = to_shared,
      .load_of_cluster = load_of_cluster,
      .load_matrices = load_matrices,
      .fetch = fetch,
      .end_fetches = end_fetches,
      .wait_for_fetches = wait_for_fetches,
      .multiply_tf32 = multiply_tf32,
      .multiply_f16 = multiply_f16,
      .multiply_bf16 = multiply_bf16,
      .to_f16 = [](float x) { return unsigned{to_f16(x)}; },
      .from_f16 = [](unsigned x) { return from_f16(static_cast<uint16_t>(x)); },
      .to_bf16 = [](float x) { return unsigned{to_bf16(x)}; },
      .to_tf32 = [](float x) { return to_tf32(x); },
      .erfinv = erfinv,
  };
  return all;
}

std::string run(const ModuleInfo& module, const KernelInfo& kernel, const Grid& grid,
                void** arguments) {
  static bool backwards = true;
  backwards = !backwards;
  Launch under_way(module, kernel, grid, arguments, backwards);
  launch = &under_way;
  std::string problem = under_way.run();
  launch = nullptr;
  return problem;
}

}  // namespace keratin::simulator
