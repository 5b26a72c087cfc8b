#include "keratin/plan/plan.h"

#include <algorithm>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/ir/block_table.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"
#include "keratin/plan/arena.h"
#include "keratin/plan/control_flow.h"
#include "keratin/plan/failures.h"
#include "keratin/plan/lasting.h"
#include "keratin/plan/rows.h"
#include "keratin/plan/waits.h"

namespace keratin {

namespace {

class CopyKernel final : public Kernel {
 public:
  CopyKernel(const Backend& backend, size_t bytes) : backend_(backend), bytes_(bytes) {}
  std::string describe() const override { return text("copy ", bytes_, " bytes"); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      if (p[0] != p[1]) backend_.copy(p[1], p[0], bytes_);
    };
  }

 private:
  const Backend& backend_;
  size_t bytes_;
};

class Planner {
 public:
  Planner(Module module, const PlanOptions& options)
      : options_(options),
        kernel_options_(options),
        plan_{.module = std::move(module), .side_by_side = options.side_by_side},
        owners_(plan_.module.block()),
        offsets_(plan_.module.block()),
        first_home_(plan_.module.block()),
        step_of_(plan_.module.block()),
        prepared_(plan_.module.block()) {}

  Plan run() {
    find_storage();
    make_steps();
    put_lasting_first();
    last_failure_ =
        find_failures(plan_, [this](Device device) { return is_apart_from_host(device); });
    find_last_uses();
    place_parameters_and_constants();
    place_results();
    place_updates();
    place_the_rest();
    append_copies();
    for (size_t i = 0; i < arenas_.size(); ++i)
      plan_.arena_bytes += plan_.queues[i].arena_bytes = arenas_[i].size();
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      plan_.queues[queue_of(plan_.steps[i].device)].steps.push_back(i);
    // What devices do together runs on one of them; the others have memory for it.
    for (const PlanStep& step : plan_.steps)
      if (step.node != nullptr)
        for (const Type& type : step.node->types()) queue_of(type.device);
    find_waits(plan_);
    return std::move(plan_);
  }

 private:
  static constexpr size_t forever = std::numeric_limits<size_t>::max();

  struct Home {
    Slot slot;
    size_t last_use = 0;  // the last step that reads it
    bool used = false;
    bool read_afar = false;   // by steps of another device
    bool taken_over = false;  // by an output of the step that used it last
  };

  // The value that owns the memory: views are other names of their input.
  Value storage(Value value) const {
    const Value owner = owners_[value.node()];
    return owner.defined() ? owner : value;
  }

  // Rows of an input are read where they are. Not of other values, which would live as long as
  // their smallest part is needed, nor on GPUs, whose kernels want what they read aligned.
  bool is_rows(const Node& node) const {
    if (!takes_rows(node) || node.device().kind != Device::Kind::cpu) return false;
    const Node& source = storage(node.in()).node();
    return is_parameter(source) && !source.attr<ParameterAttrs>().state &&
           source.device().kind == Device::Kind::cpu;
  }
  // No step: another name of memory that is there.
  bool is_name(const Node& node) const { return ops::shares_memory(node) || is_rows(node); }

  void find_storage() {
    size_t homes = 0;
    const auto add_homes = [&](const Node& node) {
      first_home_[node] = homes;
      homes += node.output_count();
    };
    for (const auto& parameter : plan_.module.block().parameters()) add_homes(*parameter);
    for (const auto& node : plan_.module.block().nodes()) {
      add_homes(*node);
      if (!is_name(*node)) continue;
      owners_[*node] = storage(node->in());
      offsets_[*node] = offsets_[node->in().node()] + first_byte(*node);
    }
    homes_.resize(homes);
  }

  // What is known of a value's memory; asked by any of its names.
  Home& home(Value value) {
    const Value owner = storage(value);
    return homes_[first_home_[owner.node()] + owner.index()];
  }

  Slot slot_of(Value value) {
    Slot slot = home(value).slot;
    if (storage(value) == value) return slot;
    slot.offset += offsets_[value.node()];
    slot.bytes = bytes_of(value.type());
    return slot;
  }

  size_t queue_of(Device device) {
    for (size_t i = 0; i < plan_.queues.size(); ++i)
      if (plan_.queues[i].device == device) return i;
    plan_.queues.push_back({device, {}, 0, options_.of(device).front()});
    arenas_.emplace_back();
    taken_for_good_.push_back(0);
    return plan_.queues.size() - 1;
  }

  bool is_apart_from_host(Device device) const {
    return device.kind == Device::Kind::gpu && !options_.gpu_backends.empty();
  }

  Slot allocate(Device device, size_t bytes) {
    const size_t queue = queue_of(device);
    return {Slot::Kind::arena, queue, arenas_[queue].allocate(bytes), bytes};
  }
  // Never used for anything else.
  Slot allocate_for_good(Device device, size_t bytes) {
    const Slot slot = allocate(device, bytes);
    taken_for_good_[slot.index] += bytes;
    return slot;
  }
  // Where steps may run at the same time, they shall not wait for each other's memory while there
  // is little of it.
  void release(const Slot& slot) {
    constexpr size_t little = size_t{32} << 20;
    const bool apart = is_apart_from_host(plan_.queues[slot.index].device);
    if (!apart || arenas_[slot.index].size() > little + taken_for_good_[slot.index])
      arenas_[slot.index].release(slot.offset);
  }

  void make_steps() {
    if (is_on_one_apart_device()) {
      lasting_.emplace(plan_.module);
      kernel_options_.is_stable = [this](const Value& value) { return (*lasting_)[value]; };
    }
    for (const auto& parameter : plan_.module.block().parameters())
      require(parameter->type().shape.known(), "plan: all sizes must be known, the parameter '",
              parameter->attr<ParameterAttrs>().name, "' is ", parameter->type());
    for (const auto& node : plan_.module.block().nodes()) {
      for (const Type& type : node->types())
        require(type.shape.known(), "plan: all sizes must be known, '", node->name(), "' gives ",
                type);
      if (is_name(*node) || &node->op() == &ops::constant_op) continue;
      Choice choice = choose_kernel(*node);
      if (const auto* prepared = dynamic_cast<const PreparedKernel*>(choice.kernel.get()))
        if (auto preparation = prepared->preparation()) {
          const Preparation* known = preparation.get();
          plan_.steps.push_back({.node = node.get(),
                                 .kernel = std::move(preparation),
                                 .name = text(choice.name, ", preparation"),
                                 .device = node->device(),
                                 .preparation = known});
        }
      plan_.steps.push_back({.node = node.get(),
                             .kernel = std::move(choice.kernel),
                             .name = std::move(choice.name),
                             .refused = std::move(choice.refused),
                             .device = node->device()});
    }
  }

  // On a device that has memory of its own for what lasts.
  bool is_on_one_apart_device() const {
    std::optional<Device> first;
    for (const auto& node : plan_.module.block().nodes()) {
      if (is_name(*node) || &node->op() == &ops::constant_op) continue;
      if (!first) first = node->device();
      if (node->device() != *first || !is_apart_from_host(*first)) return false;
    }
    return true;
  }

  void put_lasting_first() {
    auto& steps = plan_.steps;
    if (lasting_) {
      const auto lasts = [&](const PlanStep& step) {
        if (step.preparation == nullptr) return (*lasting_)[step.node->out()];
        for (size_t i = 0; i < step.input_count(); ++i)
          if (step.preparation->reads(i) && !(*lasting_)[step.node->in(i)]) return false;
        return true;
      };
      plan_.once = static_cast<size_t>(std::stable_partition(steps.begin(), steps.end(), lasts) -
                                       steps.begin());
    }
    for (size_t i = 0; i < steps.size(); ++i)
      if (steps[i].preparation == nullptr) step_of_[*steps[i].node] = i;
  }

  Choice choose_kernel(const Node& node) const {
    if (auto kernel = make_control_flow(node, options_))
      return {.kernel = std::move(kernel), .name = text("plan: ", node.name())};
    std::vector<Refusal> refused;
    // Between two devices, the one that may have its own memory knows how.
    const bool leaves_gpu =
        &node.op() == &ops::transfer_op && node.in().type().device.kind == Device::Kind::gpu;
    for (const Backend* backend :
         options_.of(leaves_gpu ? node.in().type().device : node.device())) {
      Choice choice = backend->make(node, kernel_options_);
      for (Refusal& refusal : choice.refused)
        refused.push_back({text(backend->name(), ": ", refusal.kernel), std::move(refusal.reason)});
      if (choice.kernel) {
        choice.name = text(backend->name(), ": ",
                           choice.name.empty() ? std::string(node.name()) : choice.name);
        choice.refused = std::move(refused);
        return choice;
      }
    }
    std::string reasons;
    for (const Refusal& refusal : refused)
      reasons += text("; ", refusal.kernel, ": ", refusal.reason);
    throw BackendError(text("plan: no backend runs '", node.name(), "'", reasons));
  }

  void find_last_uses() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const PlanStep& step = plan_.steps[i];
      for (size_t in = 0; in < step.input_count(); ++in) {
        if (step.preparation != nullptr && !step.preparation->reads(in)) continue;
        const Value input = step.node->in(in);
        use(input, i);
        // Whoever took the memory next would wait for another device; a transfer is soon done with
        // it.
        const bool afar =
            storage(input).type().device != step.device && &step.node->op() != &ops::transfer_op;
        home(input).read_afar = home(input).read_afar || afar;
      }
    }
    // What one run leaves for others.
    for (size_t i = 0; i < plan_.once; ++i)
      if (plan_.steps[i].preparation == nullptr)
        for (const Value& output : plan_.steps[i].node->outputs())
          if (Home& h = home(output); h.last_use >= plan_.once) h.last_use = forever;
    for (const Value& result : plan_.results()) use(result, forever);
    for (const Update& update : plan_.module.updates()) use(update.value, forever);
  }

  // Uses come in order: the last one stays.
  void use(Value value, size_t step) {
    Home& h = home(value);
    h.last_use = step;
    h.used = true;
  }

  void place_parameters_and_constants() {
    const auto& parameters = plan_.module.block().parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      home(parameters[i]->out()).slot = {Slot::Kind::input, i, 0, bytes_of(parameters[i]->type())};
    for (const auto& node : plan_.module.block().nodes()) {
      if (&node->op() != &ops::constant_op) continue;
      home(node->out()).slot = {Slot::Kind::constant, plan_.constants.size(), 0,
                                bytes_of(node->type())};
      const Tensor& value = node->attr<ops::ConstantAttrs>().value;
      plan_.constants.push_back(
          {value, options_.of(node->device()).front()->keep(node->device(), value)});
    }
  }

  // A result is computed straight into the caller's memory, unless it is there under another name.
  void place_results() {
    for (size_t i = 0; i < plan_.results().size(); ++i) {
      const Value result = plan_.results()[i];
      const Slot slot{Slot::Kind::output, i, 0, bytes_of(result.type())};
      if (home(result).slot.kind == Slot::Kind::none) {
        home(result).slot = slot;
      } else {
        copies_.push_back({result, slot});
      }
    }
  }

  // New state is computed straight into the old one, when nobody reads the old one any more and
  // nothing can fail.
  void place_updates() {
    std::vector<const Update*> late;
    for (const Update& update : plan_.module.updates()) {
      if (home(update.value).slot.kind == Slot::Kind::none && may_overwrite(update)) {
        home(update.value).slot = home(update.state).slot;
      } else {
        late.push_back(&update);
      }
    }
    for (const Update* update : late) copy_state(*update);
  }

  bool may_overwrite(const Update& update) {
    const Home& state = home(update.state);
    const size_t producer = step_of_[storage(update.value).node()];
    if (last_failure_ && producer <= *last_failure_) return false;
    if (!state.used || state.last_use < producer) return true;
    if (state.last_use > producer) return false;
    const PlanStep& step = plan_.steps[producer];
    for (size_t i = 0; i < step.node->input_count(); ++i)
      if (storage(step.node->in(i)) == storage(update.state) &&
          !step.kernel->in_place(i, storage(update.value).index()))
        return false;
    return true;
  }

  // Old state that becomes other state is saved first: the two may be exchanged.
  void copy_state(const Update& update) {
    const Slot target = home(update.state).slot;
    if (storage(update.value) == storage(update.state)) return;
    const bool from_state = home(update.value).slot.kind == Slot::Kind::input;
    if (from_state) {
      const Slot saved = allocate(update.value.type().device, bytes_of(update.value.type()));
      copies_.push_back({update.value, saved});
      state_copies_.push_back({update.value, target, saved});
    } else {
      state_copies_.push_back({update.value, target, std::nullopt});
    }
  }

  void place_the_rest() {
    // What dies with each step.
    std::vector<std::vector<Value>> dying(plan_.steps.size());
    for (const auto& node : plan_.module.block().nodes()) {
      if (is_name(*node)) continue;
      for (const Value& value : node->outputs()) {
        const Home& h = home(value);
        if (h.used && h.last_use != forever && h.slot.kind == Slot::Kind::none)
          dying[h.last_use].push_back(value);
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      plan_.steps[i].preparation != nullptr ? place_preparation(plan_.steps[i])
                                            : place_step(i, dying[i]);
  }

  // In memory that is used for nothing else, so that it waits for nobody. The step that it is for
  // reads all that it reads.
  void place_preparation(PlanStep& step) {
    for (size_t i = 0; i < step.input_count(); ++i)
      step.slots.push_back(step.preparation->reads(i) ? slot_of(step.node->in(i)) : Slot{});
    step.slots.resize(step.input_count() + step.output_count());
    prepared_[*step.node] = allocate_for_good(step.device, step.kernel->scratch_bytes());
    step.slots.push_back(prepared_[*step.node]);
  }

  void place_step(size_t index, const std::vector<Value>& dying) {
    PlanStep& step = plan_.steps[index];
    for (const Value& output : step.node->outputs()) {
      Home& h = home(output);
      if (!h.used || h.slot.kind != Slot::Kind::none) continue;
      if (const Value input = reusable_input(index, output); input.defined()) {
        h.slot = home(input).slot;
        home(input).taken_over = true;
      } else {
        const bool lasts = index < plan_.once && h.last_use == forever;
        const size_t bytes = bytes_of(output.type());
        h.slot =
            lasts ? allocate_for_good(step.device, bytes) : allocate(output.type().device, bytes);
      }
    }
    for (const Value& input : step.node->inputs()) step.slots.push_back(slot_of(input));
    for (const Value& output : step.node->outputs()) step.slots.push_back(home(output).slot);
    if (step.kernel->scratch_bytes() > 0) {
      step.slots.push_back(allocate(step.device, step.kernel->scratch_bytes()));
      release(step.slots.back());
    } else {
      step.slots.push_back({});
    }
    if (prepared_[*step.node].kind != Slot::Kind::none) step.slots.push_back(prepared_[*step.node]);
    for (const Value& value : dying)
      if (!home(value).taken_over && !home(value).read_afar &&
          home(value).slot.kind == Slot::Kind::arena)
        release(home(value).slot);
  }

  // An input that dies here, of the same size, that the kernel may write over.
  Value reusable_input(size_t index, Value output) {
    const PlanStep& step = plan_.steps[index];
    for (size_t i = 0; i < step.node->input_count(); ++i) {
      const Value input = storage(step.node->in(i));
      const Home& h = home(input);
      if (h.slot.kind != Slot::Kind::arena || h.last_use != index || h.taken_over || h.read_afar)
        continue;
      if (bytes_of(input.type()) != bytes_of(output.type())) continue;
      if (!reads_only_in_place(step, input, output.index())) continue;
      return input;
    }
    return {};
  }

  bool reads_only_in_place(const PlanStep& step, Value input, size_t output) const {
    for (size_t i = 0; i < step.node->input_count(); ++i)
      if (storage(step.node->in(i)) == input && !step.kernel->in_place(i, output)) return false;
    return true;
  }

  struct Copy {
    Value from;
    Slot to;
  };
  struct StateCopy {
    Value from;
    Slot to;
    std::optional<Slot> saved;
  };

  // Results first: they may be old state. Then state.
  void append_copies() {
    for (const Copy& copy : copies_) append_copy(slot_of(copy.from), copy.to, copy.from);
    for (const StateCopy& copy : state_copies_)
      append_copy(copy.saved.value_or(slot_of(copy.from)), copy.to, copy.from);
  }

  void append_copy(Slot from, Slot to, Value value) {
    const Backend& backend = *options_.of(value.type().device).front();
    plan_.steps.push_back({.kernel = std::make_unique<CopyKernel>(backend, bytes_of(value.type())),
                           .name = "plan: copy",
                           .slots = {from, to, Slot{}},
                           .device = value.type().device});
  }

  const PlanOptions& options_;
  KernelOptions kernel_options_;
  std::optional<Lasting> lasting_;  // where what lasts is kept
  Plan plan_;
  std::vector<Arena> arenas_;           // of plan_.queues
  std::vector<size_t> taken_for_good_;  // of these, bytes
  BlockTable<Value> owners_;            // of views
  BlockTable<size_t> offsets_;          // of these, in the owner
  BlockTable<size_t> first_home_;       // of a node's outputs, in homes_
  BlockTable<size_t> step_of_;
  BlockTable<Slot> prepared_;
  std::vector<Home> homes_;
  std::optional<size_t> last_failure_;  // the last step that may fail
  std::vector<Copy> copies_;
  std::vector<StateCopy> state_copies_;
};

}  // namespace

Plan make_plan(Module module, const PlanOptions& options) {
  return Planner(std::move(module), options).run();
}

}  // namespace keratin
