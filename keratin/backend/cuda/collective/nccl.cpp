#include "keratin/backend/cuda/collective/nccl.h"

#include <memory>

#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

std::unique_ptr<const Nccl> open_nccl() try {
  const Library library({"libnccl.so.2"});
  auto n = std::make_unique<Nccl>();
  library.find(n->init_all, "ncclCommInitAll");
  library.find(n->all_reduce, "ncclAllReduce");
  library.find(n->group_start, "ncclGroupStart");
  library.find(n->group_end, "ncclGroupEnd");
  library.find(n->error_string, "ncclGetErrorString");
  return n;
} catch (const BackendError&) {
  return nullptr;
}

void check_nccl(const Nccl& nccl, int status, const char* what) {
  if (status != 0)
    throw BackendError(
        text("cuda: NCCL: ", what, ": ", nccl.error_string(status), " (", status, ")"));
}

// -1 where there is none.
int data_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 6;
    case DType::f32:
      return 7;
    case DType::f64:
      return 8;
    case DType::bf16:
      return 9;
    default:
      return -1;
  }
}

}  // namespace

const Nccl* nccl() {
  static const std::unique_ptr<const Nccl> table = open_nccl();
  return table.get();
}

Clique::Clique(const Nccl& nccl, const std::vector<int>& gpus)
    : nccl_(nccl), communicators_(gpus.size()) {
  check_nccl(nccl_,
             nccl_.init_all(communicators_.data(), static_cast<int>(gpus.size()), gpus.data()),
             "ncclCommInitAll");
}

bool Clique::sums(DType dtype) { return data_type(dtype) >= 0; }

// All in one group: one GPU alone would wait for the others, which this thread launches too.
void Clique::all_reduce(std::span<const Addend> addends,
                        std::span<const StreamHandle> streams) const {
  const size_t gpus = communicators_.size();
  ensure(streams.size() == gpus && addends.size() % gpus == 0, "cuda: addends for other GPUs");
  check_nccl(nccl_, nccl_.group_start(), "ncclGroupStart");
  int status = 0;
  for (size_t i = 0; i < addends.size() && status == 0; ++i)
    status = nccl_.all_reduce(addends[i].from, addends[i].to, addends[i].count,
                              data_type(addends[i].dtype), Nccl::sum, communicators_[i % gpus],
                              streams[i % gpus]);
  const int end = nccl_.group_end();  // closes the group, whatever the status
  check_nccl(nccl_, status, "ncclAllReduce");
  check_nccl(nccl_, end, "ncclGroupEnd");
}

}  // namespace keratin::cuda
