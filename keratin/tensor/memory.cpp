#include "keratin/tensor/memory.h"

#include <array>
#include <atomic>
#include <limits>

#include "keratin/base/text.h"

namespace keratin {
namespace {

constexpr size_t no_limit = std::numeric_limits<size_t>::max();

struct alignas(64) Account {
  std::atomic<size_t> used = 0, peak = 0, limit = no_limit;
};

Account& account_of(Device device) {
  constexpr size_t most = 1024;  // as many devices as there can be of a kind
  static std::array<std::array<Account, most>, 2> accounts;
  const auto index = static_cast<size_t>(device.index);
  require(index < most, "memory: there is no device ", device);
  return accounts[static_cast<size_t>(device.kind)][index];
}

}  // namespace

MemoryUse memory_use(Device device) {
  const Account& account = account_of(device);
  const size_t limit = account.limit;
  return {account.used, account.peak, limit == no_limit ? std::nullopt : std::optional(limit)};
}

void reset_memory_peak(Device device) {
  Account& account = account_of(device);
  account.peak = account.used.load();
}

void set_memory_limit(Device device, std::optional<size_t> bytes) {
  account_of(device).limit = bytes.value_or(no_limit);
}

void detail::charge_memory(Device device, size_t bytes) {
  Account& account = account_of(device);
  const size_t limit = account.limit.load(std::memory_order_relaxed);
  const size_t before = account.used.fetch_add(bytes, std::memory_order_relaxed);
  if (before > limit || bytes > limit - before) {
    account.used.fetch_sub(bytes, std::memory_order_relaxed);
    throw BackendError(text(device, ": out of memory, ", bytes, " bytes were requested and ",
                            before < limit ? limit - before : 0, " of ", limit, " are free"));
  }
  size_t peak = account.peak.load(std::memory_order_relaxed);
  while (before + bytes > peak &&
         !account.peak.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
  }
}

void detail::release_memory(Device device, size_t bytes) noexcept {
  account_of(device).used.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace keratin
