#include "keratin/backend/cpu/parallel.h"

#include <omp.h>

#include <exception>
#include <mutex>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// What `#pragma omp parallel` becomes. It is called by name because the pragma passes its variables
// through memory that it writes after any annotation of ours, which ThreadSanitizer then reports:
// it does not see the synchronisation inside libgomp.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

namespace keratin::cpu {
namespace {

struct Team {
  int chunks;
  void (*body)(void*, int);
  void* data;
  std::mutex mutex;  // taken only when a chunk throws
  int failed;        // the lowest chunk that threw
  std::exception_ptr error;
};

void acquire([[maybe_unused]] void* team) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(team);
#endif
}

void release([[maybe_unused]] void* team) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(team);
#endif
}

void run_chunk(Team& team, int chunk) {
  try {
    team.body(team.data, chunk);
  } catch (...) {
    const std::lock_guard lock(team.mutex);
    if (chunk >= team.failed) return;
    team.failed = chunk;
    team.error = std::current_exception();
  }
}

// A team may come out smaller than requested, so a worker takes every size-th chunk.
void work(void* memory) {
  acquire(memory);
  Team& team = *static_cast<Team*>(memory);
  {
    const FlushDenormals flush;
    for (int chunk = omp_get_thread_num(); chunk < team.chunks; chunk += omp_get_num_threads()) {
      run_chunk(team, chunk);
    }
  }
  release(memory);
}

}  // namespace

void run_team(int chunks, void (*body)(void*, int), void* data) {
  if (chunks <= 0) return;
  Team team{
      .chunks = chunks, .body = body, .data = data, .mutex = {}, .failed = chunks, .error = {}};
  release(&team);
  GOMP_parallel(work, &team, static_cast<unsigned>(chunks), 0);
  acquire(&team);
  if (team.error) std::rethrow_exception(team.error);
}

}  // namespace keratin::cpu
