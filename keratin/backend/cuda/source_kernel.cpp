#include "keratin/backend/cuda/source_kernel.h"

#include "keratin/backend/cuda/driver/gpu.h"

namespace keratin::cuda {

namespace {

class CompiledKernel final : public Kernel {
 public:
  CompiledKernel(const Node& node, const Source& source)
      : node_(node),
        name_(source.name),
        launches_(source.launches),
        functions_(gpu(node.device()).functions(source)),
        can_wait_(gpu(node.device()).kernels_wait()),
        scratch_bytes_(source.scratch_bytes),
        in_place_(source.in_place) {}

  std::string describe() const override { return "cuda " + name_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }

  bool in_place(size_t input, size_t output) const override {
    return in_place_.allows(node_, input, output);
  }

  Launch bind(Pointers pointers) const override {
    // The driver takes the addresses of the arguments: those of the step's pointers, and of two
    // values that are known at the launch.
    std::vector<void*> arguments;
    for (size_t i = 0; i < node_.input_count() + node_.output_count() + 1; ++i)
      arguments.push_back(const_cast<void**>(pointers + i));
    arguments.resize(arguments.size() + 2);
    return [this, arguments = std::move(arguments)]() mutable { launch(arguments); };
  }

 private:
  void launch(std::vector<void*>& arguments) const {
    Queue& queue = current_queue();
    long long* fault = queue.fault();
    auto tag = reinterpret_cast<long long>(&node_);
    arguments[arguments.size() - 2] = &fault;
    arguments[arguments.size() - 1] = &tag;
    LaunchAttribute early{.id = Driver::early_launch_attribute, .value = 1};
    for (size_t i = 0; i < launches_.size(); ++i) {
      const Source::Launch& l = launches_[i];
      const LaunchConfig config{.grid_x = l.blocks,
                                .grid_y = l.block_rows,
                                .block_x = l.threads,
                                .block_y = l.thread_rows,
                                .shared_bytes = l.shared_bytes,
                                .stream = queue.stream(),
                                .attributes = &early,
                                .attribute_count = can_wait_ ? 1U : 0U};
      check(driver().launch(&config, functions_[i], arguments.data(), nullptr), name_.c_str());
    }
  }

  const Node& node_;
  const std::string name_;
  const std::vector<Source::Launch> launches_;
  const std::vector<FunctionHandle> functions_;
  const bool can_wait_;
  const size_t scratch_bytes_;
  const Source::InPlace in_place_;
};

}  // namespace

std::unique_ptr<Kernel> compile_kernel(const Node& node, const Source& source) {
  return std::make_unique<CompiledKernel>(node, source);
}

}  // namespace keratin::cuda
