// Random models of the generator of tests/random, replicated: the answers and masks stay the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "keratin/base/warning.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/model/summary.h"
#include "tests/random/recipe_testing.h"

namespace keratin {
namespace {

// As many samples as asked for: what the generator gives for several seeds.
Tree<Tensor> samples(const Model& model, uint64_t seed, int64_t count) {
  std::vector<std::vector<Tensor>> parts;
  const int64_t each = data_for(model, seed).flat()[0].shape()[0];
  for (int64_t have = 0; have < count; have += each)
    parts.push_back(data_for(model, seed + static_cast<uint64_t>(have)).flat());
  size_t next = 0;
  return data_for(model, seed).map<Tensor>([&](const Tensor& like) {
    Dims dims = like.shape().dims();
    dims[0] = count;
    Tensor whole(like.dtype(), dims);
    auto* to = static_cast<std::byte*>(whole.raw());
    size_t left = whole.bytes();
    for (const auto& part : parts) {
      const size_t bytes = std::min(left, part[next].bytes());
      std::memcpy(to, part[next].raw(), bytes);
      to += bytes;
      left -= bytes;
    }
    ++next;
    return whole;
  });
}

bool close(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  double scale = 1;
  for (int64_t k = 0; k < b.count(); ++k)
    if (std::isfinite(b.at(k))) scale = std::max(scale, std::abs(b.at(k)));
  for (int64_t k = 0; k < a.count(); ++k)
    // The mean of a row that is masked throughout is NaN, as in Keras.
    if (!(std::abs(a.at(k) - b.at(k)) <= 1e-6 * scale) &&
        !(std::isnan(a.at(k)) && std::isnan(b.at(k))))
      return false;
  return true;
}

// What is wrong with the replicas of this recipe's model, or "".
std::string fault(const Recipe& recipe) {
  try {
    clear_session();
    const Model model = cook(recipe);
    const auto devices = static_cast<int>(2 + recipe.seed % 3);
    const Model parallel = multi_gpu_model(
        model, {.gpus = devices, .cpu_merge = recipe.seed % 2 == 0, .cpu_relocation = true});
    for (const int64_t batch : {1, 7}) {
      const Tree<Tensor> x = samples(model, recipe.seed, batch);
      const RunResult one = model.run(x), many = parallel.run(x);
      const auto expected = one.outputs.flat(), got = many.outputs.flat();
      if (got.size() != expected.size()) return "another number of outputs";
      for (size_t i = 0; i < got.size(); ++i) {
        if (!close(got[i], expected[i])) return text("batch ", batch, ": other numbers");
        if (one.masks[i].has_value() != many.masks[i].has_value() ||
            (one.masks[i] && !(*one.masks[i] == *many.masks[i])))
          return text("batch ", batch, ": another mask");
      }
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(RandomReplicas, AnswerAsOneDeviceDoes) {
  const WarningHandler handler = set_warning_handler({});
  set_logical_devices("gpu", 4);
  const char* given = std::getenv("KERATIN_RANDOM_REPLICAS");
  const uint64_t count = given == nullptr ? 600 : std::strtoull(given, nullptr, 10);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const std::string wrong = fault(random_recipe(seed));
    if (wrong.empty()) continue;
    const Recipe least =
        shrink(random_recipe(seed), [](const Recipe& r) { return !fault(r).empty(); });
    ADD_FAILURE() << "seed " << seed << ": " << wrong << "\nthe smallest model that fails ("
                  << fault(least) << "):\n"
                  << summary_text(cook(least));
    break;
  }
  set_logical_devices("gpu", 0);
  set_warning_handler(handler);
}

}  // namespace
}  // namespace keratin
