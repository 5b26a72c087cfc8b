#include <algorithm>
#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// "PATH=VALUE" of an option, to both.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& word) {
  const auto [path, value] = named_file(word);
  if (path.empty() || value.empty())
    throw UsageError(text("--", option, " needs PATH=VALUE, got '", word, "'"));
  return {path, value};
}

// Whether there is such an object, or one in it.
bool exists(const KerasFileEditor& editor, const std::string& path) {
  const std::vector<std::string> all = editor.objects();
  return std::any_of(all.begin(), all.end(), [&](const std::string& object) {
    return object == path || object.starts_with(path + '/');
  });
}

// The arrays of an .npz are all weights of an object, that of an .npy is one weight.
void set_weights(KerasFileEditor& editor, const std::string& path, const std::string& file) {
  if (file.ends_with(".npz")) {
    const KerasFileEditor::Weights weights = read_npz(file);
    exists(editor, path) ? editor.add_weights(path, weights) : editor.add_object(path, weights);
    return;
  }
  if (!file.ends_with(".npy"))
    throw UsageError(text("--set takes an .npy or .npz, got '", file, "'"));
  const size_t slash = path.rfind('/');
  if (slash == path.npos)
    throw UsageError(text("--set of an .npy needs the path of a weight, such as layers/dense/0, ",
                          "got '", path, "'"));
  editor.add_weights(path.substr(0, slash), {{path.substr(slash + 1), read_npy(file)}});
}

// Whether the command line asks for a change.
bool edit(KerasFileEditor& editor, const Arguments& arguments) {
  for (const std::string& path : arguments.all("delete")) editor.delete_object(path);
  for (const std::string& word : arguments.all("rename")) {
    const auto [path, name] = assignment("rename", word);
    editor.rename_object(path, name);
  }
  for (const std::string& word : arguments.all("set")) {
    const auto [path, file] = assignment("set", word);
    set_weights(editor, path, file);
  }
  return arguments.given("delete") || arguments.given("rename") || arguments.given("set");
}

Status run_edit(const Arguments& arguments) {
  const std::string& file = arguments.file("FILE");
  const auto& outputs = arguments.files("OUTPUT");
  KerasFileEditor editor(file);
  const bool edited = edit(editor, arguments);
  if (arguments.given("compare")) {
    const auto found = editor.compare(open_model(arguments.text("compare")));
    std::cout << found.report;
    if (found.error_count > 0) return different;
  }
  if (edited || !outputs.empty())
    editor.save(outputs.empty() ? file : outputs[0]);
  else if (!arguments.given("compare"))
    editor.summary(std::cout);
  return success;
}

}  // namespace

Command edit_command() {
  return {
      .name = "edit",
      .summary = "rename, delete or replace weights in a file",
      .description =
          "Edits the weights in a .keras or .weights.h5 without making a model of it: for weights "
          "that were saved before a model was changed. PATH names an object, such as "
          "layers/dense_1, or one of its weights, such as layers/dense_1/0. All deletions are made "
          "first, then what is renamed, then what is set. Without an edit, the objects and weights "
          "are printed.\n\n"
          "The file appears whole or not at all: when something fails, what was there is "
          "untouched.",
      .positionals = {{.name = "FILE", .help = "a .keras or .weights.h5"},
                      {.name = "OUTPUT",
                       .help = "the file to write; by default, FILE itself",
                       .optional = true}},
      .options = {{.name = "delete",
                   .value = "PATH",
                   .help = "remove an object or a weight",
                   .letter = 'd',
                   .repeats = true},
                  {.name = "rename",
                   .value = "PATH=NAME",
                   .help = "give an object or a weight another name",
                   .letter = 'r',
                   .repeats = true},
                  {.name = "set",
                   .value = "PATH=ARRAY",
                   .help = "add or replace a weight by an .npy, or the weights of an object by the "
                           "arrays of an .npz",
                   .letter = 's',
                   .repeats = true},
                  {.name = "compare",
                   .value = "MODEL",
                   .help = "say how the edited weights differ from those of a model, and end with "
                           "status 1 and write nothing if they do"}},
      .examples =
          {"keratin edit model.weights.h5",
           "keratin edit old.weights.h5 new.weights.h5 --rename layers/dense=dense_1",
           "keratin edit model.keras --set layers/dense/0=kernel.npy --compare model.keras"},
      .run = run_edit,
  };
}

}  // namespace keratin::cli
