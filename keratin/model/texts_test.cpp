#include <gtest/gtest.h>

#include <filesystem>

#include "keratin/keratin.h"

namespace keratin {
namespace {

// A classifier of texts.
Model classifier(const TextVectorization& vectorize) {
  const auto x = Input({.shape = {1}, .dtype = DType::string});
  const Symbols rows =
      Embedding({.input_dim = 7, .output_dim = 4, .mask_zero = true})(vectorize(x));
  return Model({.inputs = x, .outputs = Dense({.units = 1})(LSTM({.units = 3})(rows))});
}

TEST(Texts, TrainAModelThatIsSaved) {
  const TextVectorization vectorize;
  const Tensor texts({{"good film"}, {"a bad, bad film"}, {"good"}, {"so bad"}});
  vectorize->adapt(texts);
  Model model = classifier(vectorize);
  const Tensor labels({{1.f}, {0.f}, {1.f}, {0.f}});
  model.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
  const auto losses =
      model.fit(texts, labels, {.batch_size = 2, .epochs = 20, .verbose = 0})["loss"];
  EXPECT_LT(losses.back(), 0.5 * losses.front());

  // Padding is masked: a text has one result, whatever it is batched with.
  const Tensor all = model.predict(texts).leaf();
  for (int64_t i = 0; i < 4; ++i) {
    const Tensor one = model.predict(texts.row(i).reshape({1, 1})).leaf();
    EXPECT_NEAR(one.at(0), all.at(i), 1e-6);
  }

  const auto path = std::filesystem::path(::testing::TempDir()) / "keratin_texts.keras";
  model.save(path, {.overwrite = true});
  Model loaded = load_model(path);
  EXPECT_EQ(loaded.predict(texts).leaf(), all);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace keratin
