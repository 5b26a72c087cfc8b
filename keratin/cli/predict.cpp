#include <unistd.h>

#include <iostream>

#include "keratin/cli/data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/tables.h"

namespace keratin::cli {
namespace {

// Shows how far it is on standard error, so that results can be piped; only on a terminal.
Tree<Tensor> predicted(const Model& model, const Tree<Tensor>& x, int64_t batch_size) {
  std::optional<ProgressBar> bar;
  return outputs_for(model, x, batch_size, [&](int64_t done, int64_t batches) {
    if (isatty(STDERR_FILENO) == 0 || batches < 2) return;
    if (!bar) bar.emplace(std::cerr, ProgressBar::Options{.target = batches, .dynamic = true});
    bar->update(done, {}, done == batches);
  });
}

Status run_predict(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  const TableFormat format = table_format(output, arguments.flag("json"));
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  const Tree<Tensor> x = read_inputs(model, arguments);
  const Tree<Tensor> y = predicted(model, x, batch_size(model, arguments));
  write_table({output_names(model), y.flat()}, format, output);
  return success;
}

}  // namespace

Command predict_command() {
  std::vector<Option> options = input_options();
  options.push_back(
      {.name = "output",
       .value = "FILE",
       .help = "where to: .npy, .npz, .csv or .json; without it, CSV on standard output",
       .letter = 'o'});
  options.push_back(batch_size_option());
  options.push_back(json_option());
  return {
      .name = "predict",
      .summary = "run a model on data",
      .description =
          "Runs a model on arrays, tables or images, and writes its outputs. Images are resized to "
          "the model's input as Keras resizes them; the first line of a table may name its "
          "columns.\n\n" +
          naming,
      .positionals = {model_argument(), data_argument()},
      .options = options,
      .examples = {"keratin predict model.keras x.npy -o y.npy",
                   "keratin predict --json model.keras cat.jpg dog.png",
                   "keratin predict model.keras -i words=words.npy -i facts=facts.csv -o y.npz"},
      .run = run_predict,
  };
}

}  // namespace keratin::cli
