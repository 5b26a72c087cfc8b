#include "launch.h"

#include <algorithm>
#include <sstream>

#include "launch_threads.h"
#include "memory.h"

namespace keratin::simulator {

Launch* launch = nullptr;

Launch::Launch(const ModuleInfo& module, const KernelInfo& kernel, const Grid& grid,
               void** arguments, bool backwards)
    : module_(module), kernel_(kernel), grid_(grid), arguments_(arguments), backwards_(backwards) {
  const unsigned threads = grid.threads.x * grid.threads.y * grid.threads.z;
  blocks_.resize(kernel.cluster);
  threads_.resize(size_t{threads} * kernel.cluster);
}

std::string Launch::run() {
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

void Launch::meet(Meeting& meeting) {
  meeting.waiting.push_back(self_);
  if (release_if_complete(meeting, self_)) return;
  self_->fiber->pause();
}

void Launch::touch(const void* address, size_t bytes, Touch how) {
  const auto first = reinterpret_cast<uintptr_t>(address);
  switch (space_of(address, bytes)) {
    case Space::own:
      return;
    case Space::shared:
      return complain_of(in_shared_.add(first, bytes, how, now()), how);
    case Space::global:
      return complain_of(in_global_.add(first, bytes, how, now()), how);
    case Space::none:
      fail(std::to_string(bytes) + " bytes are not all memory of the GPU's");
  }
}

void Launch::read_block(Block& block) {
  if (&block == self_->block) return;
  if (block.ended <= self_->cluster_meetings) fail(ends_early);
  block.read_by_others = std::max(block.read_by_others, self_->cluster_meetings);
}

void Launch::fail(const std::string& problem) {
  problem_ = problem + where();
  self_->fiber->pause();
  std::abort();
}

Launch::Space Launch::space_of(const void* address, size_t bytes) const {
  const auto within = [&](const void* begin, const void* end) {
    return address >= begin && static_cast<const char*>(address) + bytes <= end;
  };
  if (within(module_.shared_begin, module_.shared_end)) return Space::shared;
  for (const Block& block : blocks_)
    if (within(block.shared.data(), block.shared.data() + block.shared.size()))
      return Space::shared;
  if (within(module_.begin, module_.shared_begin)) return Space::own;  // constants
  if (within(&runtime(), &runtime() + 1) ||
      within(threads_.data(), threads_.data() + threads_.size()))
    return Space::own;  // what thread it is
  return memory().find(address, bytes) == Memory::Found::reachable ? Space::global : Space::none;
}

Moment Launch::now() const {
  const unsigned block = self_->block->number, number = self_->number;
  return {block / kernel_.cluster, block, number / warp_size, number, self_->passed};
}

void Launch::complain_of(const std::optional<Touches::Race>& race, Touch how) {
  if (!race) return;
  if (race->unwritten) fail("shared memory is read that nobody wrote");
  const auto name = [](Touch touch) { return touch == Touch::read ? "reads" : "writes"; };
  fail(std::string("a thread ") + name(how) + " what thread " + std::to_string(race->other.thread) +
       " of block " + std::to_string(race->other.block) + ' ' + name(race->how) +
       ", and no barrier is between them");
}

std::string Launch::where() const {
  const auto text = [](const Index3& i) {
    std::ostringstream out;
    out << '(' << i.x << ", " << i.y << ", " << i.z << ')';
    return out.str();
  };
  return std::string(": ") + kernel_.name + ", block " + text(self_->view.block) + ", thread " +
         text(self_->view.thread);
}

bool Launch::release_if_complete(Meeting& meeting, Thread* last) {
  if (meeting.waiting.empty() || meeting.waiting.size() < meeting.alive) return false;
  for (Thread* thread : meeting.waiting)
    if (thread != last) ready_.push_back(thread);
  meeting.waiting.clear();
  return true;
}

void Launch::prepare(const Index3& first_block) {
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

void Launch::run_cluster(const Index3& first_block) {
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
  problem_ = std::to_string(threads_.size() - ended) + " threads wait for others that never come" +
             where();
  abandon();
}

bool Launch::resume(Thread& thread) {
  self_ = &thread;
  runtime().self = &thread.view;
  if (thread.fiber == nullptr) {
    thread.fiber = take_fiber();
    thread.fiber->begin([](void* launch) { static_cast<Launch*>(launch)->call(); }, this);
  }
  runtime().stack_begin = thread.fiber->stack_begin();
  runtime().stack_end = thread.fiber->stack_end();
  return thread.fiber->resume();
}

void Launch::leave(Thread& thread) {
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

void Launch::abandon() {
  for (Thread& thread : threads_)
    if (thread.fiber != nullptr) free_fibers_.push_back(std::move(thread.fiber));
}

std::unique_ptr<Fiber> Launch::take_fiber() {
  if (free_fibers_.empty()) return std::make_unique<Fiber>();
  auto fiber = std::move(free_fibers_.back());
  free_fibers_.pop_back();
  return fiber;
}

void each_touched(const Touches::Visit& visit) { Launch::each_touched(visit); }

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
