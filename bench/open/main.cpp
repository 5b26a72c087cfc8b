// keratin_open [FOLDER]: measures the time and the peak memory of opening a model with 500 MB of
// weights whose file is cached. Each opening has its own process, since the peak is a property of a
// process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/saving.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* file;
  int64_t layers, width;  // Dense layers of width x width
};
constexpr Kind kinds[] = {
    {"layers_of_1_mb.keras", 500, 500}, {"layers_of_64_mb.keras", 8, 4000},
    {"one_layer.keras", 1, 11180},      {"layers_of_64_mb.h5", 8, 4000},
    {"one_layer.h5", 1, 11180},
};

Model made(const Kind& kind) {
  const auto in = Input({kind.width});
  SymbolicTensor x = in;
  for (int64_t i = 0; i < kind.layers; ++i) x = Dense({.units = kind.width})(x);
  return Model({.inputs = in, .outputs = x});
}

struct Opened {
  double seconds, work;  // wall time, and CPU time, which does not depend on other programs
  double weights, peak;  // bytes
};

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}
double peak_bytes() { return static_cast<double>(used().ru_maxrss) * 1024; }
double work() {
  const rusage usage = used();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Opened opened(const fs::path& path) {
  const double before = peak_bytes(), work_before = work();
  const auto start = std::chrono::steady_clock::now();
  const Model model = load_model(path);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {taken.count(), work() - work_before, static_cast<double>(model.count_params()) * 4,
          peak_bytes() - before};
}

// The result of `work`, run in a new process.
template <class Work>
Opened in_process(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Opened result = work();
    const bool sent = write(ends[1], &result, sizeof result) == sizeof result;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Opened result{};
  const bool got = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  require(got, "keratin_open: a process failed");
  return result;
}

void measure(const Kind& kind, const fs::path& folder) {
  const fs::path path = folder / kind.file;
  if (!fs::exists(path)) in_process([&] { return made(kind).save(path), Opened{}; });
  std::vector<Opened> all;
  for (int i = 0; i < 7; ++i) all.push_back(in_process([&] { return opened(path); }));
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; });
  const auto& [seconds, work, weights, peak] = all[all.size() / 2];
  std::printf("| %-22s | %3.0f MB | %4.0f ms | %4.0f ms | %4.0f ms | %5.3f |\n", kind.file,
              weights / 1e6, all.front().seconds * 1e3, seconds * 1e3, work * 1e3, peak / weights);
  std::fflush(stdout);
}

}  // namespace
}  // namespace keratin

int main(int count, char** arguments) {
  using namespace keratin;
  const fs::path folder =
      count > 1 ? fs::path(arguments[1]) : fs::temp_directory_path() / "keratin_open";
  fs::create_directories(folder);
  std::puts("| model                  | weights |   best  |  median |   work  | peak  |");
  std::puts("| ---------------------- | ------- | ------- | ------- | ------- | ----- |");
  for (const Kind& kind : kinds) measure(kind, folder);
}
