#include "keratin/cli/training.h"

#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// What the library refuses here is a word of the command line.
template <class Make>
auto from_word(std::string_view option, const std::string& word, const Make& make) {
  try {
    return make(word);
  } catch (const UserError& error) {
    throw UsageError(text("--", option, " '", word, "': ", error.what()));
  }
}

void set_losses(CompileOptions& options, const std::vector<std::string>& words) {
  std::map<std::string, Loss> by_output;
  for (const std::string& word : words) {
    const auto [output, name] = named_file(word);
    Loss loss = from_word("loss", name, [](const std::string& n) { return Loss(n); });
    if (output.empty())
      options.loss = std::move(loss);
    else
      by_output.insert_or_assign(output, std::move(loss));
  }
  if (!by_output.empty()) options.loss = std::move(by_output);
}

// A metric without an output is of every output; each has a state of its own.
void set_metrics(CompileOptions& options, const std::vector<std::string>& words,
                 const std::vector<std::string>& outputs) {
  if (words.empty()) return;
  std::map<std::string, Metrics::List> lists;
  for (const std::string& word : words) {
    const auto [output, name] = named_file(word);
    for (const std::string& one : output.empty() ? outputs : std::vector{output})
      lists[one].push_back(
          from_word("metric", name, [](const std::string& n) { return Metric(n); }));
  }
  options.weighted_metrics = {};
  options.metrics = std::move(lists);
}

}  // namespace

std::vector<Option> loss_options() {
  return {{.name = "loss",
           .value = "[OUTPUT=]NAME",
           .help = "what to minimise, by Keras's name: mse, sparse_categorical_crossentropy, ...",
           .repeats = true},
          {.name = "metric",
           .value = "[OUTPUT=]NAME",
           .help = "what else to measure, of one output or of all, by Keras's name: accuracy, auc, "
                   "mae, ...",
           .repeats = true}};
}

std::vector<Option> optimizer_options() {
  return {{.name = "optimizer",
           .value = "NAME",
           .help = "by Keras's name: adam, sgd, rmsprop, ...; as the file says, or rmsprop"},
          {.name = "learning-rate",
           .value = "RATE",
           .help = "instead of the optimizer's",
           .kind = Kind::number}};
}

void compile_for(Model& model, const Arguments& arguments) {
  const std::vector<std::string>& losses = arguments.all("loss");
  if (losses.empty() && !model.compiled())
    throw UsageError("the file does not say how the model is trained: give --loss NAME");
  CompileOptions options;
  if (model.compiled()) options = model.trainer().options();
  set_losses(options, losses);
  set_metrics(options, arguments.all("metric"), output_names(model));
  if (arguments.given("optimizer"))
    options.optimizer = from_word("optimizer", arguments.text("optimizer"),
                                  [](const std::string& name) { return Optimizer(name); });
  model.compile(std::move(options));
  if (arguments.given("learning-rate"))
    model.optimizer().set_learning_rate(arguments.number("learning-rate"));
}

Json logs_json(const Logs& logs) {
  Json out = Json::object();
  for (const auto& [name, value] : logs) out[name] = finite_json(value);
  return out;
}

}  // namespace keratin::cli
