#include <cstdio>
#include <iostream>

#include "keratin/cli/made_up_data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"
#include "keratin/cli/training.h"

namespace keratin::cli {
namespace {

EngineOptions engine_options(const Arguments& arguments) {
  return {.backend = arguments.text("backend"),
          .threads = static_cast<int>(arguments.integer("threads"))};
}

Executable predict_program(const Model& model, int64_t batch, const Arguments& arguments) {
  return model
      .program(made_up_inputs(model, batch, arguments.integer("open-size")),
               {.engine = engine_options(arguments)})
      ->executable();
}

Executable train_program(Model& model, int64_t batch, const Arguments& arguments) {
  compile_for(model, arguments);
  CompileOptions options = model.trainer().options();
  options.engine = engine_options(arguments);
  model.compile(std::move(options));
  return model.trainer().program(made_up_samples(model, batch, arguments.integer("open-size")));
}

std::string joined_ops(const std::vector<std::string>& ops) {
  std::string out;
  for (const std::string& op : ops) out += (out.empty() ? "" : ", ") + op;
  return out;
}

struct PlanTotals {
  double bytes = 0;
  size_t scratch_bytes = 0;  // of the step that needs most
};

PlanTotals totals_of(const std::vector<Executable::StepInfo>& steps) {
  PlanTotals totals;
  for (const auto& step : steps) {
    totals.bytes += step.bytes;
    totals.scratch_bytes = std::max(totals.scratch_bytes, step.scratch_bytes);
  }
  return totals;
}

std::string readable_bytes(size_t bytes) { return readable_size(static_cast<double>(bytes)); }

void print_plan_row(size_t index, const Executable::StepInfo& step) {
  std::cout.flush();
  std::printf("%5zu  %-6s %10s %10s %10.3f %10s  %s", index, text(step.device).c_str(),
              readable_bytes(step.output_bytes).c_str(), readable_bytes(step.scratch_bytes).c_str(),
              step.flops / 1e6, readable_size(step.bytes).c_str(), step.kernel.c_str());
  std::printf(" (%s)%s%s%s%s\n", step.description.c_str(), step.layer.empty() ? "" : " [",
              step.layer.c_str(), step.layer.empty() ? "" : "]",
              step.stable ? ", only after weights changed" : "");
}

// What the step computes, and why no better kernel does.
void print_plan_reasons(const Executable::StepInfo& step) {
  if (step.ops.size() > 1) std::printf("%14s%s\n", "fused: ", joined_ops(step.ops).c_str());
  for (const auto& refusal : step.refused)
    std::printf("%14s%s: %s\n", "not ", refusal.kernel.c_str(), refusal.reason.c_str());
}

void print_plan(const Executable& program, bool explain) {
  const std::vector<Executable::StepInfo> steps = program.explain();
  std::printf("%5s  %-6s %10s %10s %10s %10s  %s\n", "step", "device", "output", "scratch", "MFLOP",
              "traffic", "kernel");
  for (size_t i = 0; i < steps.size(); ++i) {
    print_plan_row(i, steps[i]);
    if (explain) print_plan_reasons(steps[i]);
  }
  const PlanTotals totals = totals_of(steps);
  std::printf("\n%zu steps, %.3f MFLOP, %s read and written, arena %s, scratch at most %s\n",
              steps.size(), program.flops() / 1e6, readable_size(totals.bytes).c_str(),
              readable_bytes(program.arena_bytes()).c_str(),
              readable_bytes(totals.scratch_bytes).c_str());
  std::fflush(stdout);
}

Json plan_step_json(const Executable::StepInfo& step) {
  Json refused = Json::array();
  for (const auto& refusal : step.refused)
    refused.push_back(Json::Object{{"kernel", refusal.kernel}, {"reason", refusal.reason}});
  return Json::Object{{"kernel", step.kernel},
                      {"description", step.description},
                      {"layer", step.layer.empty() ? Json() : Json(step.layer)},
                      {"ops", Json::Array(step.ops.begin(), step.ops.end())},
                      {"device", text(step.device)},
                      {"output_bytes", static_cast<int64_t>(step.output_bytes)},
                      {"scratch_bytes", static_cast<int64_t>(step.scratch_bytes)},
                      {"bytes", step.bytes},
                      {"flops", step.flops},
                      {"stable", step.stable},
                      {"refused", refused}};
}

Json plan_json(const Executable& program) {
  const std::vector<Executable::StepInfo> steps = program.explain();
  const PlanTotals totals = totals_of(steps);
  Json list = Json::array();
  for (const auto& step : steps) list.push_back(plan_step_json(step));
  return Json::Object{{"arena_bytes", static_cast<int64_t>(program.arena_bytes())},
                      {"scratch_bytes", static_cast<int64_t>(totals.scratch_bytes)},
                      {"bytes", totals.bytes},
                      {"flops", program.flops()},
                      {"steps", list}};
}

Status run_plan(const Arguments& arguments) {
  const bool train = arguments.flag("train");
  Model model = open_model(arguments.file("MODEL"), {.compile = train});
  const int64_t batch = batch_size(model, arguments);
  const Executable program =
      train ? train_program(model, batch, arguments) : predict_program(model, batch, arguments);
  const char* const kind = train ? "train" : "predict";
  if (arguments.flag("json")) {
    Json out = Json::Object{{"model", model.name()}, {"program", kind}, {"batch_size", batch}};
    for (const auto& [key, value] : plan_json(program).as_object()) out[key] = value;
    std::cout << out.dump(2) << '\n';
    return success;
  }
  std::cout << kind << ", model '" << model.name() << "', a batch of " << batch << "\n\n";
  print_plan(program, arguments.flag("explain"));
  return success;
}

}  // namespace

Command plan_command() {
  Command command{
      .name = "plan",
      .summary = "show how a model is computed",
      .description =
          "Shows the steps that compute one batch: the kernel of each, its device, the memory of "
          "its outputs, its scratch memory, its floating-point operations and the bytes that it "
          "reads and writes. With --explain also which ops were fused into a step, and why better "
          "kernels refused it. Nothing is run.\n\n"
          "An axis that the model leaves open, but for that of samples, gets the size of "
          "--open-size.",
      .positionals = {model_argument()},
      .options = {{.name = "explain", .help = "say why better kernels refused"},
                  {.name = "train", .help = "show a training step instead of predict"},
                  {.name = "backend",
                   .value = "NAME",
                   .help = "what runs it",
                   .words = {"cpu", "cuda", "reference"},
                   .fallback = "cpu"},
                  {.name = "threads",
                   .value = "N",
                   .help = "how many to use; 0 for what the machine has",
                   .fallback = "0",
                   .kind = Kind::integer},
                  batch_size_option(),
                  open_size_option()},
      .examples = {"keratin plan model.keras -b 1", "keratin plan --explain model.keras",
                   "keratin plan model.json --train --loss mse --optimizer adam"},
      .run = run_plan,
  };
  for (const std::vector<Option>& more : {loss_options(), optimizer_options(), {json_option()}})
    command.options.insert(command.options.end(), more.begin(), more.end());
  return command;
}

}  // namespace keratin::cli
