#include <set>

#include "keratin/backend/cuda/collective/nccl.h"
#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/all_reduce.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

// GPUs that NCCL has connected, and a stream on each but the first, which is busy with a queue.
class Connected {
 public:
  explicit Connected(std::vector<Gpu*> gpus)
      : gpus_(std::move(gpus)), clique_(*nccl(), numbers()), streams_(gpus_.size()) {
    for (size_t i = 1; i < gpus_.size(); ++i) {
      gpus_[i]->enter();
      check(driver().create_stream(&streams_[i], Driver::stream_non_blocking), "cuStreamCreate");
    }
  }

  // Runs after what the calling queue, that of the first GPU, has launched; the other queues have
  // finished their addends. Waits for all sums. Calls take turns: two that reached the GPUs in
  // different orders could wait for each other.
  void sum(std::span<const Clique::Addend> addends) {
    static std::mutex lock;
    const std::lock_guard guard(lock);
    streams_[0] = current_queue().stream();
    clique_.all_reduce(addends, streams_);
    Result result = 0;
    for (size_t i = gpus_.size(); i-- > 0;) {  // ends with the queue's own GPU entered
      gpus_[i]->enter();
      if (const Result here = driver().synchronize(streams_[i])) result = here;
    }
    check(result, "all_reduce");
  }

 private:
  std::vector<int> numbers() const {
    std::vector<int> all;
    for (const Gpu* gpu : gpus_) all.push_back(gpu->ordinal());
    return all;
  }

  const std::vector<Gpu*> gpus_;
  const Clique clique_;
  std::vector<StreamHandle> streams_;
};

// nullptr if NCCL cannot connect the devices; remembered, because it takes long to find out.
Connected* connected(const std::vector<Device>& devices) {
  static std::mutex lock;
  static auto* known = new std::map<std::vector<Gpu*>, std::unique_ptr<Connected>>();
  std::vector<Gpu*> gpus;
  for (const Device device : devices) gpus.push_back(&gpu(device));
  const std::lock_guard guard(lock);
  const auto [found, is_new] = known->try_emplace(gpus);
  try {
    if (is_new) found->second = std::make_unique<Connected>(gpus);
  } catch (const BackendError&) {
    // The node is decomposed into transfers.
  }
  return found->second.get();
}

// True if each device is a GPU of its own, as NCCL needs.
bool are_apart(const std::vector<Device>& devices) {
  std::set<const Gpu*> gpus;
  for (const Device device : devices) gpus.insert(&gpu(device));
  return gpus.size() == devices.size() && gpus.size() > 1;
}

const std::vector<Device>& devices_of(const Node& node) {
  return node.attr<ops::AllReduceAttrs>().devices;
}

class AllReduceStep final : public Kernel {
 public:
  explicit AllReduceStep(const Node& node)
      : node_(node), connected_(*connected(devices_of(node))) {}
  std::string describe() const override {
    return text("cuda NCCL all_reduce, ", node_.input_count() / devices_of(node_).size(),
                " tensors on ", devices_of(node_).size(), " GPUs");
  }
  Launch bind(Pointers p) const override {
    std::vector<Clique::Addend> addends;
    for (const Value& input : node_.inputs())
      addends.push_back(
          {.count = static_cast<size_t>(input.shape().count()), .dtype = input.dtype()});
    return [this, p, addends]() mutable {
      for (size_t i = 0; i < addends.size(); ++i) {
        addends[i].from = p[i];
        addends[i].to = p[addends.size() + i];
        ensure(addends[i].to != nullptr, "cuda: one GPU has no memory for the sum over GPUs");
      }
      connected_.sum(addends);
    };
  }

 private:
  const Node& node_;
  Connected& connected_;
};

// Where these refuse, the node is decomposed into transfers and additions.
std::optional<std::string> refuses_all_reduce(const Node& node) {
  if (device_count() < 2) return "there are fewer than two GPUs";
  if (nccl() == nullptr) return "NCCL is not installed";
  for (const Type& type : node.types()) {
    if (!Clique::sums(type.dtype)) return text("NCCL does not sum ", type.dtype);
    if (type.device.kind != Device::Kind::gpu) return text(type.device, " is not a GPU");
  }
  if (!are_apart(devices_of(node))) return "two devices are the same GPU";
  if (connected(devices_of(node)) == nullptr) return "NCCL cannot connect the GPUs";
  return std::nullopt;
}

Offer make_all_reduce(const Node& node, const KernelOptions&) {
  return {.kernel = std::make_unique<AllReduceStep>(node)};
}

}  // namespace

extern const CudaKernel all_reduce_kernel{{.name = "all_reduce by NCCL",
                                           .ops = {&ops::all_reduce_op},
                                           .refuses = refuses_all_reduce,
                                           .make = make_all_reduce}};

}  // namespace keratin::cuda
