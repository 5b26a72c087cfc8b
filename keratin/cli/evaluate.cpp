#include <iostream>

#include "keratin/cli/data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/training.h"

namespace keratin::cli {
namespace {

Status run_evaluate(const Arguments& arguments) {
  Model model = open_model(arguments.file("MODEL"));
  compile_for(model, arguments);
  const Logs logs =
      model.evaluate(as_data(read_samples(model, arguments)),
                     {.batch_size = batch_size(model, arguments),
                      .verbose = ProgressBar::on_terminal() && !arguments.flag("json") ? 1 : 0});
  if (arguments.flag("json")) {
    std::cout << logs_json(logs).dump(2) << '\n';
    return success;
  }
  for (const auto& [name, value] : logs) std::cout << name << ": " << value << '\n';
  return success;
}

}  // namespace

Command evaluate_command() {
  Command command{
      .name = "evaluate",
      .summary = "measure a model on data",
      .description =
          "Says the loss and the metrics of a model on samples and their targets, as the file says "
          "or as given by --loss and --metric. A .csv has its target in the last column, or in "
          "those of --labels.\n\n" +
          naming,
      .positionals = {model_argument(), data_argument()},
      .options = input_options(),
      .examples = {"keratin evaluate model.keras test.npz",
                   "keratin evaluate model.h5 test.csv --labels price --loss mse --metric mae"},
      .run = run_evaluate,
  };
  for (const std::vector<Option>& more :
       {target_options(), loss_options(), {batch_size_option(), json_option()}})
    command.options.insert(command.options.end(), more.begin(), more.end());
  return command;
}

}  // namespace keratin::cli
