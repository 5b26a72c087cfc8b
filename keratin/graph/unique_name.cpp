#include <mutex>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/layer.h"
#include "keratin/graph/unique_name.h"

namespace keratin {
namespace {

// How many names of each prefix there are.
struct NameCounts {
  std::mutex lock;
  std::unordered_map<std::string, size_t> by_prefix;

  static NameCounts& instance() {
    static NameCounts counts;
    return counts;
  }
};

}  // namespace

std::string unique_name(std::string_view prefix) {
  NameCounts& counts = NameCounts::instance();
  const std::lock_guard guard(counts.lock);
  const size_t count = counts.by_prefix[std::string(prefix)]++;
  return count == 0 ? std::string(prefix) : text(prefix, "_", count);
}

void clear_session() {
  NameCounts& counts = NameCounts::instance();
  const std::lock_guard guard(counts.lock);
  counts.by_prefix.clear();
}

}  // namespace keratin
