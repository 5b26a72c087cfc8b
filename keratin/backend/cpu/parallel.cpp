#include "keratin/backend/cpu/parallel.h"

#include <omp.h>

#include <exception>
#include <mutex>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// What `#pragma omp parallel` becomes. It is called by name because the pragma passes its variables
// through memory written after any annotation of ours, which ThreadSanitizer then reports: it does
// not see the synchronisation inside libgomp.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

namespace keratin::cpu {
namespace {

struct Team {
  int parts;
  void (*body)(void*, int);
  void* data;
  std::mutex mutex;  // taken only when a part throws
  int failed;        // the lowest part that threw
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

void run_part(Team& team, int part) {
  try {
    team.body(team.data, part);
  } catch (...) {
    const std::lock_guard lock(team.mutex);
    if (part >= team.failed) return;
    team.failed = part;
    team.error = std::current_exception();
  }
}

// A team may come out smaller than asked for, so a worker takes every size-th part.
void work(void* memory) {
  acquire(memory);
  Team& team = *static_cast<Team*>(memory);
  {
    const FlushDenormals flush;
    for (int part = omp_get_thread_num(); part < team.parts; part += omp_get_num_threads()) {
      run_part(team, part);
    }
  }
  release(memory);
}

}  // namespace

void run_team(int parts, void (*body)(void*, int), void* data) {
  if (parts <= 0) return;
  Team team{.parts = parts, .body = body, .data = data, .mutex = {}, .failed = parts, .error = {}};
  release(&team);
  GOMP_parallel(work, &team, static_cast<unsigned>(parts), 0);
  acquire(&team);
  if (team.error) std::rethrow_exception(team.error);
}

}  // namespace keratin::cpu
