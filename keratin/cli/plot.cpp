#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

Status run_plot(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  const std::string suffix = std::filesystem::path(output).extension().string();
  if (suffix != ".svg" && suffix != ".png" && suffix != ".dot")
    throw UsageError(text("--output must end in .svg, .png or .dot, got '", output, "'"));
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  plot_model(model, output,
             {.show_shapes = arguments.flag("shapes"),
              .show_dtype = arguments.flag("dtypes"),
              .show_trainable = arguments.flag("trainable"),
              .show_layer_activations = arguments.flag("activations"),
              .expand_nested = arguments.flag("expand-nested"),
              .rankdir = arguments.text("direction")});
  return success;
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "draw the graph of a model",
      .description =
          "Draws layers and what connects them. SVG and DOT need nothing else; PNG is "
          "drawn by Graphviz, which must be installed.",
      .positionals = {model_argument()},
      .options = {{.name = "output",
                   .value = "FILE",
                   .help = "the picture: .svg, .png or .dot",
                   .letter = 'o',
                   .required = true},
                  {.name = "shapes", .help = "show shapes"},
                  {.name = "dtypes", .help = "show dtypes"},
                  {.name = "activations", .help = "show activations"},
                  {.name = "trainable", .help = "show which layers train"},
                  {.name = "expand-nested", .help = "show the layers of nested models too"},
                  {.name = "direction",
                   .value = "WORD",
                   .help = "from top to bottom, or from left to right",
                   .words = {"TB", "LR"},
                   .fallback = "TB"}},
      .examples = {"keratin plot model.keras -o model.svg --shapes"},
      .run = run_plot,
  };
}

}  // namespace keratin::cli
