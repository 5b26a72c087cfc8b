#include "keratin/base/processors.h"

#include <gtest/gtest.h>

#include <fstream>

namespace keratin {
namespace {

namespace fs = std::filesystem;

class ProcessorQuota : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<double> quota() const { return detail::processor_quota(root_); }

  const fs::path root_ = fs::path(::testing::TempDir()) / "processor_quota";
};

TEST_F(ProcessorQuota, IsNoneWithoutControlGroups) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(ProcessorQuota, IsReadFromVersion2) {
  write("proc/self/cgroup", "0::/work/job\n");
  write("sys/fs/cgroup/work/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(ProcessorQuota, IsTheLowestOfTheGroupsAbove) {
  write("proc/self/cgroup", "0::/work/job\n");
  write("sys/fs/cgroup/work/job/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/work/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(ProcessorQuota, IsNoneIfTheGroupHasNoLimit) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ProcessorQuota, IsReadFromVersion1) {
  write("proc/self/cgroup", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(ProcessorQuota, OfAContainerIsInTheTopmostGroup) {
  write("proc/self/cgroup", "2:cpu,cpuacct:/docker/abc\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "30000\n");
  EXPECT_EQ(quota(), 0.3);
}

TEST_F(ProcessorQuota, IgnoresWhatIsNoQuota) {
  write("proc/self/cgroup", "nonsense\n0::/work\n");
  write("sys/fs/cgroup/work/cpu.max", "many 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/work/cpu.max", "100000 0\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(AvailableProcessors, AreAtLeastOne) { EXPECT_GE(available_processors(), 1); }

}  // namespace
}  // namespace keratin
