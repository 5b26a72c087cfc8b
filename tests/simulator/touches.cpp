#include "touches.h"

#include <algorithm>
#include <vector>

namespace keratin::simulator {

// The narrowest barrier that includes all of the group and the thread that comes now.
bool Touches::Access::is_before(const Moment& now) const {
  if (group == Group::none) return true;
  if (group == Group::grid || now.cluster != last.cluster) return false;
  if (now.passed.of_cluster > last.passed.of_cluster) return true;
  if (group == Group::cluster || now.block != last.block) return false;
  if (now.passed.of_block > last.passed.of_block) return true;
  if (group == Group::block || now.warp != last.warp) return false;
  if (now.passed.of_warp > last.passed.of_warp) return true;
  return group == Group::thread && now.thread == last.thread;
}

// Accesses before a barrier that later ones have passed need not be remembered.
void Touches::Access::add(const Moment& now) {
  if (is_before(now)) {
    group = Group::thread;
  } else {
    const Group wider = now.cluster != last.cluster ? Group::grid
                        : now.block != last.block   ? Group::cluster
                        : now.warp != last.warp     ? Group::block
                        : now.thread != last.thread ? Group::warp
                                                    : Group::thread;
    group = std::max(group, wider);
  }
  last = now;
}

Touches::Byte& Touches::at(uintptr_t address) {
  const uintptr_t number = address / page_bytes;
  if (last_ == nullptr || number != last_number_) {
    auto& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    if (page->age != age_) {
      std::fill(std::begin(page->bytes), std::end(page->bytes), Byte());
      page->age = age_;
    }
    last_number_ = number;
    last_ = page.get();
  }
  return last_->bytes[address % page_bytes];
}

std::optional<Touches::Race> Touches::add(uintptr_t first, size_t bytes, Touch how,
                                          const Moment& now) {
  for (uintptr_t address = first; address < first + bytes; ++address) {
    Byte& byte = at(address);
    const bool both_atomic = how == Touch::atomic && byte.atomic;
    if (!both_atomic && !byte.writes.is_before(now))
      return Race{byte.writes.last, byte.atomic ? Touch::atomic : Touch::write};
    if (how == Touch::read) {
      if (begins_empty_ && byte.writes.group == Group::none) return Race{now, how, true};
      byte.reads.add(now);
      continue;
    }
    if (!byte.reads.is_before(now)) return Race{byte.reads.last, Touch::read};
    byte.atomic = how == Touch::atomic;
    byte.writes.add(now);
  }
  return {};
}

void Touches::each(const Visit& visit) const {
  std::vector<uintptr_t> numbers;
  for (const auto& [number, page] : pages_)
    if (page->age == age_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  uintptr_t begin = 0, end = 0;
  bool wrote = false;
  const auto finish = [&] {
    if (begin < end) visit(begin, end, wrote ? Touch::write : Touch::read);
  };
  for (const uintptr_t number : numbers)
    for (size_t i = 0; i < page_bytes; ++i) {
      const Byte& byte = pages_.at(number)->bytes[i];
      const bool writes = byte.writes.group != Group::none;
      if (!writes && byte.reads.group == Group::none) continue;
      const uintptr_t at = number * page_bytes + i;
      if (at != end || writes != wrote) {
        finish();
        begin = at;
        wrote = writes;
      }
      end = at + 1;
    }
  finish();
}

void Touches::forget() {
  if (pages_.size() > max_pages) pages_.clear();
  last_ = nullptr;
  ++age_;
}

}  // namespace keratin::simulator
