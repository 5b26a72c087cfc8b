#pragma once

#include "keratin/cli/arguments.h"

namespace keratin::cli {

// How a model is trained, if its file has no training config or the user overrides it.
std::vector<Option> loss_options();       // --loss, --metric
std::vector<Option> optimizer_options();  // --optimizer, --learning-rate

// Compiles a model as the file and the options say; a UsageError when neither gives a loss.
void compile_for(Model& model, const Arguments& arguments);
Json logs_json(const Logs& logs);

}  // namespace keratin::cli
