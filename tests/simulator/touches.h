#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "runtime.h"

namespace keratin::simulator {

// A thread at some moment of a launch. The barriers that it has passed say what came before.
struct Moment {
  uint32_t cluster = 0, block = 0;  // in the grid
  uint32_t warp = 0, thread = 0;    // in the block
  struct Passed {
    uint32_t of_cluster = 0, of_block = 0, of_warp = 0;
  } passed = {};
};

// Which threads accessed which bytes, and when. Two that no barrier orders may be there
// at the same time, and one that writes is then a race, whatever came of it here.
class Touches {
 public:
  struct Race {
    Moment other;
    Touch how;               // the other's
    bool unwritten = false;  // there is no other access: the byte was never written
  };
  // Whether what is read must have been written.
  explicit Touches(bool begins_empty) : begins_empty_(begins_empty) {}
  // The race with what came before, if there is one.
  std::optional<Race> add(uintptr_t first, size_t bytes, Touch how, const Moment& now);
  void forget();
  // Stretches of memory that were read, or written at last, in the order of addresses.
  using Visit = std::function<void(uintptr_t begin, uintptr_t end, Touch how)>;
  void each(const Visit& visit) const;

 private:
  // Who may have been there: the thread, and others of its warp, block, cluster or grid.
  enum class Group : uint8_t { none, thread, warp, block, cluster, grid };
  struct Access {
    Moment last;
    Group group = Group::none;
    bool is_before(const Moment& now) const;
    void add(const Moment& now);
  };
  struct Byte {
    Access reads, writes;
    bool atomic = false;  // the writes
  };
  static constexpr size_t page_bytes = 256;
  static constexpr size_t max_pages = 1 << 14;  // that are kept
  struct Page {
    uint64_t age = 0;  // of an older one nothing is known
    Byte bytes[page_bytes];
  };

  Byte& at(uintptr_t address);

  const bool begins_empty_;
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uint64_t age_ = 0;
  uintptr_t last_number_ = 0;  // the page that was looked at last
  Page* last_ = nullptr;
};

}  // namespace keratin::simulator
