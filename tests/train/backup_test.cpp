#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>

#include "keratin/base/text.h"
#include "keratin/keratin.h"

extern char** environ;  // NOLINT

// Training that is killed at any moment continues with the same bits.
namespace keratin {
namespace {

constexpr const char* folder_variable = "KERATIN_BACKUP_TEST";

// Backups must restore dropout, shuffling, the optimizer's state, a metric, and partial batches.
std::vector<Tensor> train(const std::filesystem::path& folder, int64_t epochs = 40,
                          const CallbackPtr& accident = nullptr) {
  clear_session();
  set_random_seed(11);
  const SymbolicTensor in = Input({6});
  Symbols h = Dense({.units = 16, .activation = "relu"})(in);
  h = Dropout({.rate = 0.3})(BatchNormalization()(h));
  Model model({.inputs = in, .outputs = Dense({.units = 3, .activation = "softmax"})(h)});
  model.compile({.optimizer = Adam({.learning_rate = 0.01}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  Tensor x(DType::f32, {70, 6}), y(DType::i32, {70});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  for (int64_t i = 0; i < y.count(); ++i) y.set(i, static_cast<double>(i * i % 3));
  FitOptions options{.batch_size = 16, .epochs = epochs, .verbose = 0};
  if (!folder.empty())
    options.callbacks = {BackupAndRestore(
        {.backup_dir = folder / "backup", .save_freq = 3, .delete_checkpoint = false})};
  if (accident != nullptr) options.callbacks.push_back(accident);
  const History history = model.fit(x, y, options);
  std::vector<Tensor> out = model.get_weights();
  out.push_back(Tensor::scalar(DType::f64, history["loss"].back()));
  out.push_back(Tensor::scalar(DType::f64, history["accuracy"].back()));
  return out;
}

// The test below starts this one in other processes, and kills them.
TEST(Backup, ChangesNothing) {
  const char* given = std::getenv(folder_variable);
  const std::filesystem::path folder =
      given != nullptr ? given : std::filesystem::path(::testing::TempDir()) / "unharmed";
  if (given == nullptr) std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::vector<Tensor> trained = train(folder);
  std::map<std::string, Tensor> results;
  for (const Tensor& t : trained) results.emplace(std::to_string(results.size() + 100), t);
  write_npz(folder / "done.npz", results);
  if (given == nullptr) {
    EXPECT_EQ(trained, train(""));
  }
}

TEST(Backup, SurvivesKills) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "killed";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  setenv(folder_variable, folder.c_str(), 1);
  // The processes run one test, so they must not be sharded.
  for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(variable);
  std::mt19937 random(static_cast<uint32_t>(getpid()));
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string filter = "--gtest_filter=Backup.ChangesNothing", quiet = "--gtest_brief=1";
  int kills = 0;
  for (int round = 0; round < 200; ++round) {
    char* arguments[] = {self.data(), filter.data(), quiet.data(), nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments, environ), 0);
    // Each process runs longer than the last, so that training ends on slow machines too.
    const int64_t limit = 2000 + 4000 * int64_t{round};
    for (int64_t waited = 0, until = static_cast<int64_t>(random() % 30000) + limit; waited < until;
         waited += 500) {
      usleep(500);
      if (std::filesystem::exists(folder / "done.npz")) break;
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (std::filesystem::exists(folder / "done.npz")) break;
    ++kills;
  }
  unsetenv(folder_variable);
  ASSERT_TRUE(std::filesystem::exists(folder / "done.npz"));
  RecordProperty("kills", kills);
  std::cout << "killed " << kills << " times\n";
  const std::vector<Tensor> whole = train("");
  const auto resumed = read_npz(folder / "done.npz");
  ASSERT_EQ(resumed.size(), whole.size());
  size_t i = 0;
  for (const auto& item : resumed) EXPECT_EQ(item.second, whole[i++]) << item.first;
}

// The logs of an epoch cover the batches before the interruption too.
TEST(Backup, ContinuesInTheMiddleOfAnEpoch) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "halved";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto accident =
      LambdaCallback({.on_train_batch_end = [](Training& t, int64_t step, const Logs&) {
        if (t.epoch == 1 && step == 3) fail("the power went out");
      }});
  EXPECT_THROW(train(folder, 2, accident), UserError);
  ASSERT_TRUE(std::filesystem::exists(folder / "backup" / "latest.npz"));
  EXPECT_EQ(train(folder, 2), train("", 2));
}

// With a fixed number of steps, each epoch continues the data of the last one, also after a
// restore.
std::vector<Tensor> train_in_steps(const Data& data, const std::filesystem::path& folder,
                                   bool accident) {
  clear_session();
  set_random_seed(3);
  const SymbolicTensor in = Input({2});
  Model model({.inputs = in, .outputs = Dense({.units = 1})(in)});
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  FitOptions options{.epochs = 3, .verbose = 0, .steps_per_epoch = 4};
  if (!folder.empty())
    options.callbacks = {
        BackupAndRestore({.backup_dir = folder, .save_freq = 1, .delete_checkpoint = false})};
  if (accident)
    options.callbacks.push_back(
        LambdaCallback({.on_train_batch_end = [](Training& t, int64_t step, const Logs&) {
          if (t.epoch == 1 && step == 2) fail("the power went out");
        }}));
  model.fit(data, options);
  return model.get_weights();
}

TEST(Backup, ContinuesInDataWithoutEpochs) {
  const auto numbered = [](int64_t i) {
    return Batch{Tensor::full(DType::f32, {1, 2}, static_cast<double>(i)),
                 Tensor::full(DType::f32, {1, 1}, static_cast<double>(i * i % 7))};
  };
  const auto generator = [&] {
    return Data([=, i = int64_t{0}]() mutable -> std::optional<Batch> { return numbered(i++); });
  };
  const auto dataset = [&] {
    return Data(Dataset::from_generator([=] {
      return [=, i = int64_t{0}]() mutable -> std::optional<Batch> { return numbered(i++); };
    }));
  };
  for (const std::function<Data()>& make : {std::function<Data()>(generator), {dataset}}) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "in_steps";
    std::filesystem::remove_all(folder);
    EXPECT_THROW(train_in_steps(make(), folder, true), UserError);
    ASSERT_TRUE(std::filesystem::exists(folder / "latest.npz"));
    EXPECT_EQ(train_in_steps(make(), folder, false), train_in_steps(make(), "", false));
  }
}

TEST(Reproducible, GivesTheSameBitsForTheSameSeed) { EXPECT_EQ(train(""), train("")); }

}  // namespace
}  // namespace keratin
