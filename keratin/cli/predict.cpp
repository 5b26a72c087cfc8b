#include <unistd.h>

#include <iostream>

#include "keratin/cli/commands.h"
#include "keratin/cli/data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/tables.h"

namespace keratin::cli {
namespace {

// Shows how far it is on standard error, so that results can be piped; only on a terminal.
class Watched {
 public:
  explicit Watched(int64_t batches)
      : shown_(isatty(STDERR_FILENO) != 0 && batches > 1),
        batches_(batches),
        bar_(std::cerr, {.target = batches, .dynamic = true}) {}
  Batch operator()(Batch batch) {
    ++done_;
    if (shown_) bar_.update(done_, {}, done_ == batches_);
    return batch;
  }

 private:
  bool shown_;
  int64_t batches_, done_ = 0;
  ProgressBar bar_;
};

Tree<Tensor> predicted(const Model& model, const Tree<Tensor>& x, int64_t batch_size) {
  const int64_t samples = Batch{x}.size();
  const auto bar = std::make_shared<Watched>((samples + batch_size - 1) / batch_size);
  return model.predict(
      Dataset::from_tensors(x).batch(batch_size).map([bar](Batch batch) { return (*bar)(batch); }));
}

Status run(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  const TableFormat format = table_format(output, arguments.flag("json"));
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  const Tree<Tensor> x = read_inputs(model, arguments);
  const Tree<Tensor> y = predicted(model, x, arguments.integer("batch-size"));
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
      .run = run,
  };
}

}  // namespace keratin::cli
