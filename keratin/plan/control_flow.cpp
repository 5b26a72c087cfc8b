#include "keratin/plan/control_flow.h"

#include <algorithm>
#include <array>

#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scan.h"
#include "keratin/plan/arena.h"
#include "keratin/plan/session.h"

namespace keratin {

namespace {

// A region as a program: its parameters are the inputs, its results the outputs.
Plan plan_region(const Block& region, Device device, PlanOptions options) {
  options.keeps_values = false;  // none follow from state here: the parameters are inputs
  options.is_stable = {};
  Module module;
  Values inputs;
  for (const auto& parameter : region.parameters())
    inputs.push_back(module.input(parameter->type()));
  for (const Value& result : inline_block(region, module.block(), inputs)) module.output(result);
  // Nodes without inputs, such as constants, have no device yet.
  for (const auto& node : module.block().nodes()) node->place(device);
  Plan plan = make_plan(std::move(module), options);
  require(plan.queues.size() <= 1, "plan: a loop or branch must be on one device, its body is on ",
          plan.queues.size());
  return plan;
}

size_t aligned(size_t bytes) {
  return (bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment;
}

// A session of an inner plan whose arena is at the start of a step's scratch memory.
class InnerSession {
 public:
  explicit InnerSession(const Plan& plan) : session_(plan, Session::BorrowedArena{}) {}

  Session& at(std::byte* scratch) {
    session_.set_arena(scratch);
    return session_;
  }

 private:
  Session session_;
};

// Runs the region once per step, on slices of xs and ys in place. Carries go from the input through
// two alternating buffers to the output.
class ScanKernel final : public Kernel {
 public:
  ScanKernel(const Node& node, const PlanOptions& options)
      : node_(node),
        backend_(*options.of(node.device()).front()),
        plan_(plan_region(node.region(), node.device(), options)),
        length_(ops::scan_length(node)),
        carries_(static_cast<size_t>(node.attr<ops::ScanAttrs>().carries)),
        xs_(static_cast<size_t>(node.attr<ops::ScanAttrs>().xs)),
        reverse_(node.attr<ops::ScanAttrs>().reverse) {
    for (const auto& parameter : node.region().parameters())
      input_bytes_.push_back(bytes_of(parameter->type()));
    scratch_ = aligned(plan_.arena_bytes);
    for (const Value& result : node.region().results) {
      result_bytes_.push_back(bytes_of(result.type()));
      // Space for results that are not written to an output: two buffers for carries, one for ys.
      buffer_.push_back(scratch_);
      scratch_ += aligned(result_bytes_.back()) * (buffer_.size() <= carries_ ? 2 : 1);
    }
  }

  std::string describe() const override {
    return text("scan, ", length_, " times ", plan_.steps.size(), " steps");
  }
  size_t scratch_bytes() const override { return scratch_; }
  // The first carry is read for the last time before the last one is written, unless there is only
  // one step.
  bool in_place(size_t input, size_t output) const override {
    return input == output && input < carries_ && length_ != 1;
  }
  Launch bind(Pointers pointers) const override {
    return
        [this, pointers, inner = std::make_shared<InnerSession>(plan_)] { run(pointers, *inner); };
  }

 private:
  void run(Pointers pointers, InnerSession& inner) const {
    auto* scratch = static_cast<std::byte*>(pointers[node_.input_count() + node_.output_count()]);
    Session& session = inner.at(scratch);
    for (size_t i = carries_ + xs_; i < node_.input_count(); ++i) session.set_input(i, pointers[i]);
    for (int64_t step = 0; step < length_; ++step) {
      set_carries(session, pointers, scratch, step);
      set_slices(session, pointers, scratch, reverse_ ? length_ - 1 - step : step);
      session.launch();
    }
    if (length_ == 0) copy_carries(pointers);
  }

  void set_carries(Session& session, Pointers pointers, std::byte* scratch, int64_t step) const {
    const Pointers outputs = pointers + node_.input_count();
    for (size_t i = 0; i < carries_; ++i) {
      std::byte* const buffers[] = {scratch + buffer_[i],
                                    scratch + buffer_[i] + aligned(result_bytes_[i])};
      session.set_input(i, step == 0 ? pointers[i] : buffers[(step + 1) % 2]);
      const bool last = step == length_ - 1 && outputs[i] != nullptr;
      session.set_output(i, last ? outputs[i] : buffers[step % 2]);
    }
  }

  void set_slices(Session& session, Pointers pointers, std::byte* scratch, int64_t time) const {
    for (size_t i = carries_; i < carries_ + xs_; ++i)
      session.set_input(i, slice(pointers[i], input_bytes_[i], time));
    const Pointers outputs = pointers + node_.input_count();
    for (size_t i = carries_; i < node_.output_count(); ++i)
      session.set_output(i, outputs[i] != nullptr ? slice(outputs[i], result_bytes_[i], time)
                                                  : scratch + buffer_[i]);
  }

  static void* slice(void* base, size_t bytes, int64_t time) {
    return static_cast<std::byte*>(base) + bytes * static_cast<size_t>(time);
  }

  void copy_carries(Pointers pointers) const {
    for (size_t i = 0; i < carries_; ++i) {
      void* out = pointers[node_.input_count() + i];
      if (out != nullptr && out != pointers[i]) backend_.copy(out, pointers[i], result_bytes_[i]);
    }
  }

  const Node& node_;
  const Backend& backend_;
  Plan plan_;
  int64_t length_;
  size_t carries_, xs_;
  bool reverse_;
  std::vector<size_t> input_bytes_, result_bytes_;  // of one step
  std::vector<size_t> buffer_;                      // offsets in the scratch memory
  size_t scratch_ = 0;
};

// Runs one of the two regions.
class CondKernel final : public Kernel {
 public:
  CondKernel(const Node& node, const PlanOptions& options)
      : node_(node),
        backend_(*options.of(node.device()).front()),
        branches_{plan_region(node.region(0), node.device(), options),
                  plan_region(node.region(1), node.device(), options)} {
    scratch_ = aligned(std::max(branches_[0].arena_bytes, branches_[1].arena_bytes));
    for (const Type& type : node.types()) {
      buffer_.push_back(scratch_);
      scratch_ += aligned(bytes_of(type));
    }
  }

  std::string describe() const override {
    return text("cond, ", branches_[0].steps.size(), " or ", branches_[1].steps.size(), " steps");
  }
  size_t scratch_bytes() const override { return scratch_; }
  Launch bind(Pointers pointers) const override {
    return [this, pointers, then = std::make_shared<InnerSession>(branches_[0]),
            alternative = std::make_shared<InnerSession>(branches_[1])] {
      bool chosen = false;
      backend_.fetch(&chosen, pointers[0], sizeof chosen);
      run(pointers, chosen ? *then : *alternative);
    };
  }

 private:
  void run(Pointers pointers, InnerSession& inner) const {
    const Pointers outputs = pointers + node_.input_count();
    auto* scratch = static_cast<std::byte*>(outputs[node_.output_count()]);
    Session& session = inner.at(scratch);
    for (size_t i = 1; i < node_.input_count(); ++i) session.set_input(i - 1, pointers[i]);
    for (size_t i = 0; i < node_.output_count(); ++i)
      session.set_output(i, outputs[i] != nullptr ? outputs[i] : scratch + buffer_[i]);
    session.launch();
  }

  const Node& node_;
  const Backend& backend_;
  std::array<Plan, 2> branches_;
  std::vector<size_t> buffer_;  // offsets in the scratch memory, for outputs that are not used
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_control_flow(const Node& node, const PlanOptions& options) {
  if (&node.op() == &ops::scan_op) return std::make_unique<ScanKernel>(node, options);
  if (&node.op() == &ops::cond_op) return std::make_unique<CondKernel>(node, options);
  return nullptr;
}

}  // namespace keratin
