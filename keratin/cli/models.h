#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// Arguments and options that several commands share.
Positional model_argument();
Option json_option();
Option batch_size_option();

// A model of any file that holds one: a saved model, or a config in JSON, whose weights are new.
Model open_model(const std::filesystem::path& path, const LoadOptions& options = {});
// True if the model opens, but its training config does not.
bool opens_without_training(const std::filesystem::path& path);
// True for a config in JSON, without weights.
bool is_config_file(const std::filesystem::path& path);
// True if the suffix is that of files of weights.
bool is_weights_file(const std::filesystem::path& path);
// The same of a file that is there, by its contents.
bool holds_weights_alone(const std::filesystem::path& path);

// What the inputs and outputs are called: by their layers, or x_0, x_1, … and y_0, y_1, … where
// those do not tell them apart. A model without a graph has one of each.
std::vector<std::string> input_names(const Model& model);
std::vector<std::string> output_names(const Model& model);

// Writes a model, its weights or its config, by the suffix of the path.
void save_as(const Model& model, const std::filesystem::path& path);
// Can save_as write there? A UsageError when the suffix is not known, a UserError when there is no
// such folder: said before the work begins.
void check_model_output(const std::filesystem::path& path);

// The value of a key; nullptr where it is missing, or where there is no object.
const Json* member(const Json& json, std::string_view key);
// A number in JSON, which has no NaN: that and the infinities are words.
Json finite_json(double value);

// The whole of a text file.
std::string read_text(const std::filesystem::path& path);
// Written beside the path first and then moved there; "" and "-" are the standard output.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace keratin::cli
