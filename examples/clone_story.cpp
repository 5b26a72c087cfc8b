// How Keratin began: a masked model whose Lambda has two outputs, which Keras could not clone.
#include <keratin/keratin.h>

#include <iostream>

#include "example.h"

using namespace keratin;

int main() {
  try {
    // Sentences of at most six words, padded with zeros; the embedding says which words count.
    const auto words = Input({.shape = {6}, .dtype = DType::i32, .name = "words"});
    const auto embedded =
        Embedding({.input_dim = 50, .output_dim = 8, .mask_zero = true}, "embedding")(words);
    const auto twice = Lambda(
        [](Value x) -> Values {
          return {x + 1.0, x};
        },
        {.mask =
             [](const Call& c) {
               return Masks{c.mask(), c.mask()};
             },
         .name = "two_outputs"});
    const auto [shifted, same] = twice(embedded).unpack<2>();
    const auto sum = Add({}, "sum")({shifted, same});
    const auto score =
        Dense({.units = 1, .activation = "sigmoid"}, "score")(LSTM({.units = 4}, "reader")(sum));
    const Model model({.inputs = words, .outputs = score, .name = "masked"});
    summary(model);

    const Model copy = clone_model(model, {.name = "its_clone"});
    const Tensor sentences =
        Tensor::of<int32_t>(DType::i32, {2, 6}, {3, 14, 15, 9, 0, 0, 26, 5, 35, 8, 9, 7});
    const auto show = [&](const char* who, const Model& m) {
      const Tensor out = m.predict(sentences);
      std::cout << who << ": " << out << '\n';
      return out;
    };
    const Tensor before = show("the model            ", model);
    const Tensor fresh = show("its clone, new weights", copy);
    require(!(fresh == before), "the clone should have weights of its own");
    copy.layer()->set_weights(model.get_weights());
    const Tensor after = show("after copying weights ", copy);
    require(after == before, "source and clone should agree");
    std::cout << "Source and clone agree, bit for bit.\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
