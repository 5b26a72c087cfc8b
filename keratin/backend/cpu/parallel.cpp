#include "keratin/backend/cpu/parallel.h"

#include "keratin/base/thread_pool_scope.h"

namespace keratin::cpu {

void run_chunks(int threads, int64_t chunks, void (*body)(void*, int64_t, int), void* data) {
  const FlushDenormals flush;
  keratin::detail::current_thread_pool().run(threads, chunks, body, data);
}

}  // namespace keratin::cpu
