#include <iostream>

#include "keratin/cli/data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"
#include "keratin/cli/training.h"

namespace keratin::cli {
namespace {

int verbosity(const Arguments& arguments) {
  if (arguments.flag("quiet") || arguments.flag("json")) return 0;
  return ProgressBar::on_terminal() ? 1 : 2;
}

double validation_split(const Arguments& arguments) {
  const double split = arguments.number("validation-split");
  if (split >= 1) throw UsageError(text("--validation-split must be less than 1, got ", split));
  return split;
}

Json history_json(const History& history, const std::string& output) {
  Json numbers = Json::object();
  for (const auto& [name, values] : history.history) {
    Json list = Json::array();
    for (const double value : values) list.push_back(finite_json(value));
    numbers[name] = list;
  }
  return Json::Object{{"epochs", static_cast<int64_t>(history.epoch.size())},
                      {"interrupted", history.interrupted},
                      {"history", numbers},
                      {"output", output}};
}

Status run_train(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  check_model_output(output);
  if (arguments.given("seed")) set_random_seed(static_cast<uint64_t>(arguments.integer("seed")));
  FitOptions options{.epochs = arguments.integer("epochs"),
                     .verbose = verbosity(arguments),
                     .validation_split = validation_split(arguments),
                     .shuffle = !arguments.flag("no-shuffle")};
  Model model = open_model(arguments.file("MODEL"));
  compile_for(model, arguments);
  options.batch_size = batch_size(model, arguments);
  const History history = model.fit(as_data(read_samples(model, arguments)), options);
  save_as(model, output);
  if (arguments.flag("json")) std::cout << history_json(history, output).dump(2) << '\n';
  if (!history.interrupted) return success;
  std::cout.flush();
  std::cerr << "keratin train: interrupted; what was learnt until then is in " << output << '\n';
  return interrupted;
}

}  // namespace

Command train_command() {
  Command command{
      .name = "train",
      .summary = "train a model on data",
      .description =
          "Trains a model on samples and their targets, and writes it. A model that was saved in "
          "the middle of training goes on where it stopped, its optimizer's state included. Ctrl-C "
          "ends training after the step, and what was learnt is written. A .csv has its target in "
          "the last column, or in those of --labels.\n\n" +
          naming,
      .positionals = {model_argument(), data_argument()},
      .options = {{.name = "output",
                   .value = "FILE",
                   .help = "where to write the model, in any format of `keratin convert`",
                   .letter = 'o',
                   .required = true},
                  {.name = "epochs",
                   .value = "N",
                   .help = "passes over the data",
                   .letter = 'e',
                   .fallback = "1",
                   .kind = Kind::integer,
                   .min = 1},
                  {.name = "validation-split",
                   .value = "PART",
                   .help = "the last part of the samples, from 0 to 1, is kept to measure on",
                   .fallback = "0",
                   .kind = Kind::number},
                  {.name = "no-shuffle", .help = "keep the samples in order"},
                  {.name = "seed",
                   .value = "N",
                   .help = "the same random numbers each time",
                   .kind = Kind::integer},
                  {.name = "quiet", .help = "show no progress", .letter = 'q'}},
      .examples = {"keratin train model.keras train.npz -o trained.keras --epochs 5",
                   "keratin train config.json data.csv -o m.keras --loss mse --optimizer adam"},
      .run = run_train,
  };
  for (const std::vector<Option>& more : {optimizer_options(),
                                          loss_options(),
                                          input_options(),
                                          target_options(),
                                          {batch_size_option(), json_option()}})
    command.options.insert(command.options.end(), more.begin(), more.end());
  return command;
}

}  // namespace keratin::cli
