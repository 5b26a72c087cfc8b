#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "keratin/base/lru_cache.h"
#include "keratin/engine/arena_pool.h"
#include "keratin/graph/measured_sizes.h"
#include "keratin/model/program.h"

namespace keratin {

// The type of an argument that a program was compiled for.
struct ArgumentType {
  DType dtype = DType::f32;
  Shape shape;
  bool masked = false;
  DType mask_dtype = DType::boolean;
  Shape mask_shape;

  static constexpr auto fields = field_list(
      field("dtype", &ArgumentType::dtype), field("shape", &ArgumentType::shape),
      field("masked", &ArgumentType::masked), field("mask_dtype", &ArgumentType::mask_dtype),
      field("mask_shape", &ArgumentType::mask_shape));
  bool operator==(const ArgumentType&) const = default;
};
static_assert(detail::lists_every_member<ArgumentType>());

// Everything that a program depends on.
struct ProgramKey {
  size_t revision = 0;  // of the layer
  uint64_t moves = 0;   // of variables: a program holds their memory
  RunOptions options = {};
  std::string structure = {};  // of the arguments, with their names and constants
  std::vector<ArgumentType> types = {};
  std::vector<int64_t> sizes = {};  // that depend on strings

  static constexpr auto fields =
      field_list(field("revision", &ProgramKey::revision), field("moves", &ProgramKey::moves),
                 field("options", &ProgramKey::options), field("structure", &ProgramKey::structure),
                 field("types", &ProgramKey::types), field("sizes", &ProgramKey::sizes));
};
static_assert(detail::lists_every_member<ProgramKey>());

// The inputs of `predict` as arguments of a call.
Arguments<MaskedTensor> arguments_of(const Tree<Tensor>& inputs);

// The programs of a model, by their keys. Programs that were not used for longest are evicted. A
// call that finds its program never waits for another one that is being compiled.
class ProgramCache {
 public:
  // `make_layer` is called once, when the first program is made.
  explicit ProgramCache(std::function<LayerPtr()> make_layer)
      : make_layer_(std::move(make_layer)) {}

  std::shared_ptr<const Program> find(const Arguments<MaskedTensor>& arguments,
                                      const RunOptions& options);
  LayerPtr layer();
  void set_limits(CacheLimits limits);
  CacheLimits limits();
  ProgramCacheInfo info();
  void clear();

 private:
  size_t revision();
  std::vector<int64_t> sizes_of(const std::string& structure,
                                const Arguments<MaskedTensor>& arguments);
  std::shared_ptr<const Program> lookup(const ProgramKey& key);

  std::function<LayerPtr()> make_layer_;
  std::mutex compile_lock_;  // held while a program is compiled
  std::mutex lock_;          // never held for long
  LayerPtr layer_;
  uint64_t changes_ = 0, moves_ = 0;  // Layer::changes() and Variable::moves() of the last call
  size_t revision_ = 0;               // of the layer, after these changes
  std::map<std::string, MeasuredSizes> measured_;  // of the last program of each structure
  // All programs run in the same memory, which is free again as soon as a call has returned.
  const std::shared_ptr<ArenaPool> arenas_ = std::make_shared<ArenaPool>();
  std::atomic<uint64_t> hits_ = 0, misses_ = 0;
  struct Memory {
    static size_t bytes(const Program& program) { return program.executable().memory_bytes(); }
    static void shrink(const Program& program) { program.executable().release_memory(); }
  };
  detail::LruCache<ProgramKey, const Program, Memory> programs_;
};

}  // namespace keratin
