// The functions of cuDNN's graph interface that Keratin uses. What they are not known to be asked
// for they refuse. Of the engines that they offer some are as bad as real ones may be.
#include <algorithm>

#include "cudnn_graph.h"
#include "machine.h"

namespace keratin::simulator::cudnn {

namespace {

// The library's numbers.
enum class Field {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  float32 = 4,
  address = 6,
  convolution_mode = 7,
  heuristic_mode = 8,
  numerical_note = 11,
  pointwise_mode = 14,
  descriptor = 15,
  behavior_note = 19,
};
constexpr int heuristic_results = 202, config_engine = 300, plan_workspace = 402,
              engine_numerical_note = 1303, engine_behavior_note = 1305;
constexpr uint64_t workspace_alignment = 16;

size_t size_of_field(Field field) {
  switch (field) {
    case Field::boolean:
      return sizeof(bool);
    case Field::handle:
    case Field::int64:
    case Field::address:
    case Field::descriptor:
      return 8;
    default:
      return 4;
  }
}

// Attributes that may be set, of which types and how many values.
struct Rule {
  Kind kind;
  int first, last;
  Field field;
  int64_t most;
};
constexpr Rule rules[] = {
    {Kind::tensor, 900, 900, Field::int64, 1},
    {Kind::tensor, 901, 901, Field::data_type, 1},
    {Kind::tensor, 902, 903, Field::int64, 8},
    {Kind::tensor, 906, 906, Field::int64, 1},
    {Kind::tensor, 907, 907, Field::boolean, 1},
    {Kind::convolution, 100, 100, Field::data_type, 1},
    {Kind::convolution, 101, 101, Field::convolution_mode, 1},
    {Kind::convolution, 102, 105, Field::int64, 3},
    {Kind::convolution, 106, 106, Field::int64, 1},
    {Kind::pointwise, 0, 0, Field::pointwise_mode, 1},
    {Kind::pointwise, 1, 1, Field::data_type, 1},
    {Kind::convolution_forward, 700, 701, Field::float32, 1},
    {Kind::convolution_forward, 702, 705, Field::descriptor, 1},
    {Kind::convolution_grad_input, 706, 707, Field::float32, 1},
    {Kind::convolution_grad_input, 708, 711, Field::descriptor, 1},
    {Kind::convolution_grad_filter, 712, 713, Field::float32, 1},
    {Kind::convolution_grad_filter, 714, 717, Field::descriptor, 1},
    {Kind::pointwise_operation, 750, 753, Field::descriptor, 1},
    {Kind::operation_graph, 800, 800, Field::handle, 1},
    {Kind::operation_graph, 801, 801, Field::descriptor, 8},
    {Kind::engine_heuristic, 200, 200, Field::heuristic_mode, 1},
    {Kind::engine_heuristic, 201, 201, Field::descriptor, 1},
    {Kind::execution_plan, 400, 400, Field::handle, 1},
    {Kind::execution_plan, 401, 401, Field::descriptor, 1},
    {Kind::variant_pack, 1000, 1000, Field::int64, 16},
    {Kind::variant_pack, 1001, 1001, Field::address, 16},
    {Kind::variant_pack, 1003, 1003, Field::address, 1},
};

void set_attribute(Descriptor& d, int attribute, Field field, int64_t count, const void* values) {
  need(!d.is_finished(), bad_parameter);
  const auto* const rule = std::find_if(std::begin(rules), std::end(rules), [&](const Rule& r) {
    return r.kind == d.kind && r.first <= attribute && attribute <= r.last;
  });
  need(rule != std::end(rules), not_supported);
  need(field == rule->field && count >= 1 && count <= rule->most && values != nullptr,
       bad_parameter);
  const auto* bytes = static_cast<const std::byte*>(values);
  if (field == Field::descriptor)
    for (int64_t i = 0; i < count; ++i)
      need(static_cast<const Descriptor* const*>(values)[i]->is_finished(), not_finished);
  d.attributes[attribute].assign(bytes, bytes + static_cast<size_t>(count) * size_of_field(field));
}

// The caller's memory for values of an attribute, and where it wants to read how many there are.
struct Room {
  Field field;
  int64_t most;
  int64_t* count;
  void* values;

  template <class T>
  void fill(Field right, const std::vector<T>& from) const {
    need(field == right, bad_parameter);
    *count = static_cast<int64_t>(from.size());
    std::copy_n(from.begin(), std::min(*count, most), static_cast<T*>(values));
  }

  // Descriptors the caller has made, empty.
  template <class T>
  void fill(Kind kind, const std::vector<T>& meanings) const {
    need(field == Field::descriptor, bad_parameter);
    *count = static_cast<int64_t>(meanings.size());
    for (int64_t i = 0; i < std::min(*count, most); ++i) {
      Descriptor& d = *static_cast<Descriptor**>(values)[i];
      need(d.kind == kind, bad_parameter);
      d.meaning = meanings[static_cast<size_t>(i)];
    }
  }
};

void get_attribute(const Descriptor& d, int attribute, const Room& room) {
  switch (attribute) {
    case heuristic_results:
      return room.fill(Kind::engine_config, d.means<EngineConfigs>().all);
    case config_engine:
      return room.fill(Kind::engine, std::vector{d.means<EngineConfig>().engine});
    case engine_numerical_note:
      return room.fill(Field::numerical_note, d.means<Engine>().numerical_notes);
    case engine_behavior_note:
      return room.fill(Field::behavior_note, d.means<Engine>().behavior_notes);
    case plan_workspace:
      return room.fill(Field::int64, std::vector{d.means<Plan>().workspace_bytes});
    default:
      throw Refused{not_supported};
  }
}

void check_addresses(const Plan& plan, const VariantPack& pack) {
  for (const Tensor& tensor : plan.config.graph->tensors) {
    const auto found = pack.addresses.find(tensor.id);
    need(found != pack.addresses.end() && found->second != nullptr, bad_parameter);
    need(is_aligned(found->second, static_cast<uint64_t>(tensor.alignment)), misaligned_pointer);
  }
  if (plan.workspace_bytes == 0) return;
  need(pack.workspace != nullptr, bad_parameter);
  need(is_aligned(pack.workspace, workspace_alignment), misaligned_pointer);
}

void report_all(const EngineConfig& config, const VariantPack& pack) {
  const Program& program = config.graph->program;
  const Result result = program.convolution.result;
  const int64_t written = result == Result::y   ? program.y
                          : result == Result::w ? program.w
                                                : program.x;
  for (const Tensor& tensor : config.graph->tensors) {
    int64_t count = 1;
    for (const int64_t size : tensor.sizes) count *= size;
    report(pack.addresses.at(tensor.id), static_cast<size_t>(count) * size_of(tensor.type),
           tensor.id == written);
  }
  report(pack.workspace, workspace_bytes(program, config.engine), true);
}

void execute(const Handle& handle, const Plan& plan, const VariantPack& pack) {
  need(plan.config.graph->handle == &handle, bad_parameter);
  check_addresses(plan, pack);
  const int result = enqueue(handle.stream, [config = plan.config, pack] {
    report_all(config, pack);
    run(config.graph->program, config.engine, pack.addresses, pack.workspace);
  });
  need(result == 0, execution_failed);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

size_t cudnnGetVersion() { return 91400; }

int cudnnCreate(Handle** made) {
  *made = new Handle();
  return 0;
}

int cudnnSetStream(Handle* handle, Stream* stream) {
  handle->stream = stream;
  return 0;
}

int cudnnBackendCreateDescriptor(int kind, Descriptor** made) {
  return status_of([&] {
    const auto known = static_cast<Kind>(kind);
    const bool found = known == Kind::engine || known == Kind::engine_config;
    need(found || std::any_of(std::begin(rules), std::end(rules),
                              [&](const Rule& rule) { return rule.kind == known; }),
         not_supported);
    *made = new Descriptor{known};
  });
}

int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  delete descriptor;
  return 0;
}

int cudnnBackendSetAttribute(Descriptor* descriptor, int attribute, int field, int64_t count,
                             const void* values) {
  return status_of(
      [&] { set_attribute(*descriptor, attribute, static_cast<Field>(field), count, values); });
}

int cudnnBackendGetAttribute(const Descriptor* descriptor, int attribute, int field, int64_t most,
                             int64_t* count, void* values) {
  return status_of([&] {
    get_attribute(*descriptor, attribute, {static_cast<Field>(field), most, count, values});
  });
}

int cudnnBackendFinalize(Descriptor* descriptor) {
  return status_of([&] {
    need(!descriptor->is_finished(), bad_parameter);
    descriptor->meaning = meaning_of(*descriptor);
  });
}

int cudnnBackendExecute(const Handle* handle, const Descriptor* plan, const Descriptor* pack) {
  return status_of([&] { execute(*handle, plan->means<Plan>(), pack->means<VariantPack>()); });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace keratin::simulator::cudnn
