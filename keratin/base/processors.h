#pragma once

#include <filesystem>
#include <optional>

namespace keratin {

// The processors that this process may use: those of its affinity mask, and no more than the quotas
// of its control groups (containers) allow. At least 1; looked up once.
int available_processors();

namespace detail {

// The processors' worth of time that the control groups of this process may use, if they have a
// limit: of version 2 (cpu.max) or 1 (cpu.cfs_quota_us). Tests pass another `root` than "/".
std::optional<double> processor_quota(const std::filesystem::path& root);

}  // namespace detail
}  // namespace keratin
