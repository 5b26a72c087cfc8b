#pragma once

#include "keratin/cli/arguments.h"

namespace keratin::cli {

// What a command takes to be given data: DATA..., --input and, where it learns from them, --target.
Positional data_argument();
std::vector<Option> input_options();
std::vector<Option> target_options();
// How the help says which arrays of an .npz are which.
inline const std::string naming =
    "Arrays of an .npz are found by the names of the model's inputs and outputs (`keratin summary "
    "--json` lists them), as x_0, x_1, ... and y_0, y_1, ..., or as x and y where there is only "
    "one.";

// An input or output of a model: what data for it must look like.
struct Slot {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;  // whatever comes, where the model does not say
  bool optional = false;
};
std::vector<Slot> input_slots(const Model& model);
std::vector<Slot> output_slots(const Model& model);

// The arrays of DATA and --input, in the structure of the model's inputs.
Tree<Tensor> read_inputs(const Model& model, const Arguments& arguments);
// Those and the targets, as `fit` wants them.
Batch read_samples(const Model& model, const Arguments& arguments);
// The array for a slot among those of an .npz: by its name, as x_0, or as x where it is the only
// one; nothing where there is none.
using Arrays = std::map<std::string, Tensor>;
const Tensor* find_array(const Arrays& arrays, const std::vector<Slot>& slots, size_t slot,
                         char letter);
// How many samples at a time: as requested, as the model's inputs fix it, or what the option says.
std::optional<int64_t> fixed_batch(const Model& model);
int64_t batch_size(const Model& model, const Arguments& arguments);
// True if every tensor has as many rows, so that batches can be made of them.
bool is_in_samples(const Batch& all);
// Rows to make batches of; what is not in samples is one batch, as it is.
Data as_data(const Batch& all);
// The outputs for all inputs, batch by batch where these are in samples.
Tree<Tensor> outputs_for(const Model& model, const Tree<Tensor>& x, int64_t batch_size,
                         const std::function<void(int64_t done, int64_t batches)>& watch = {});
// In the structure of the model's inputs.
Tree<Tensor> packed_inputs(const Model& model, const std::vector<Tensor>& tensors);
// An array as the slot wants it: its dtype, and an error naming the slot when the shape is another.
Tensor fitted(const Tensor& tensor, const Slot& slot, const std::string& where);

}  // namespace keratin::cli
