#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// A model with its training. Where that alone cannot be read, the error says how to leave it out.
Model open_to_convert(const std::string& file, const LoadOptions& options) {
  try {
    return open_model(file, options);
  } catch (const UserError& error) {
    if (!options.compile || !opens_without_training(file)) throw;
    fail(error.what(),
         " (the model itself can be read: --no-training leaves out how it is trained)");
  }
}

// The model that FILE is, or whose weights it is.
Model opened(const Arguments& arguments) {
  const std::string& file = arguments.file("FILE");
  const std::string of = arguments.text("model");
  const LoadOptions options{.compile = !arguments.flag("no-training")};
  if (!holds_weights_alone(file) && of.empty()) return open_to_convert(file, options);
  if (of.empty())
    throw UsageError(text("'", file, "' is weights alone: say by --model MODEL of which model"));
  require(std::filesystem::exists(file), file, ": no such file");
  Model model = open_to_convert(of, options);
  model.load_weights(file);
  return model;
}

Status run_convert(const Arguments& arguments) {
  const std::string& output = arguments.file("OUTPUT");
  check_model_output(output);
  if (arguments.flag("no-overwrite"))
    require(!std::filesystem::exists(output), output, ": is there already");
  save_as(opened(arguments), output);
  return success;
}

}  // namespace

Command convert_command() {
  return {
      .name = "convert",
      .summary = "write a model in another format",
      .description =
          "Writes a model, its weights or its config in the format that the suffix of OUTPUT says: "
          ".keras, .h5 (legacy), .json (the config alone), .weights.h5, .weights.json (with shards "
          "beside it), .npz or .safetensors (weights alone); a name that ends in / is the folder "
          "of a .keras. How the model is trained and the optimizer's state go along where the "
          "format has a place for them.\n\n"
          "OUTPUT appears whole or not at all: when something fails, what was there is untouched.",
      .positionals = {{.name = "FILE", .help = "a model, or weights together with --model"},
                      {.name = "OUTPUT", .help = "the file to write"}},
      .options = {{.name = "model",
                   .value = "MODEL",
                   .help = "the model that FILE holds the weights of",
                   .letter = 'm'},
                  {.name = "no-training",
                   .help = "leave out how it is trained, and the optimizer's state"},
                  {.name = "no-overwrite", .help = "fail where OUTPUT is there already"}},
      .examples = {"keratin convert old.h5 new.keras",
                   "keratin convert model.keras weights.safetensors",
                   "keratin convert weights.npz model.keras --model config.json"},
      .run = run_convert,
  };
}

}  // namespace keratin::cli
