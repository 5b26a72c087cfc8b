#include "keratin/backend/cuda/conv/cudnn.h"

#include <map>
#include <mutex>

#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda::cudnn {

namespace {

struct Api {
  size_t (*version)();
  int (*create)(void**);
  int (*set_stream)(void*, StreamHandle);
  int (*create_descriptor)(int kind, void**);
  int (*destroy_descriptor)(void*);
  int (*set_attribute)(void*, int attribute, int field, int64_t count, const void*);
  int (*get_attribute)(void*, int attribute, int field, int64_t wanted, int64_t* count, void*);
  int (*finalize)(void*);
  int (*execute)(void* handle, void* plan, void* variant_pack);
};

void check(int status, const char* what) {
  if (status != 0) throw BackendError(text("cuda: cuDNN: ", what, " failed with status ", status));
}

Api open() {
  const Library library({"libcudnn.so.9"});
  Api a{};
  library.find(a.version, "cudnnGetVersion");
  library.find(a.create, "cudnnCreate");
  library.find(a.set_stream, "cudnnSetStream");
  library.find(a.create_descriptor, "cudnnBackendCreateDescriptor");
  library.find(a.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.find(a.set_attribute, "cudnnBackendSetAttribute");
  library.find(a.get_attribute, "cudnnBackendGetAttribute");
  library.find(a.finalize, "cudnnBackendFinalize");
  library.find(a.execute, "cudnnBackendExecute");
  return a;
}

const Api& api() {
  static const Api table = open();
  return table;
}

// The library's state on one GPU. It has one stream at a time, so launches take turns.
struct State {
  std::mutex lock;
  void* handle = nullptr;
};

State& state() {
  static std::mutex lock;
  static auto* states = new std::map<ContextHandle, State>();  // the driver may be gone at the end
  ContextHandle context = nullptr;
  cuda::check(driver().current_context(&context), "cuCtxGetCurrent");
  const std::lock_guard guard(lock);
  State& of_context = (*states)[context];
  if (of_context.handle == nullptr) check(api().create(&of_context.handle), "cudnnCreate");
  return of_context;
}

}  // namespace

bool available() {
  static const bool there = [] {
    try {
      return version() >= 90000;
    } catch (const BackendError&) {
      return false;
    }
  }();
  return there;
}

size_t version() { return api().version(); }

int data_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 2;
    case DType::bf16:
      return 9;
    default:
      ensure(dtype == DType::f32, "cudnn: no type for ", dtype);
      return 0;
  }
}

Descriptor::Descriptor(Kind kind) {
  void* made = nullptr;
  check(api().create_descriptor(static_cast<int>(kind), &made), "BackendCreateDescriptor");
  handle_ = {made, [](void* h) { api().destroy_descriptor(h); }};
}

void Descriptor::set(int attribute, Field field, int64_t count, const void* values) const {
  check(api().set_attribute(get(), attribute, static_cast<int>(field), count, values),
        text("BackendSetAttribute ", attribute).c_str());
}

void Descriptor::set(int attribute, const std::vector<Descriptor>& values) {
  std::vector<void*> raw;
  for (const Descriptor& value : values) {
    raw.push_back(value.get());
    hold(value);
  }
  set(attribute, Field::descriptor, static_cast<int64_t>(raw.size()), raw.data());
}

void Descriptor::set_handle(int attribute) const {
  set(attribute, Field::handle, 1, &state().handle);
}

bool Descriptor::finish() const { return api().finalize(get()) == 0; }

int64_t Descriptor::number(int attribute) const {
  int64_t value = 0, count = 0;
  check(api().get_attribute(get(), attribute, static_cast<int>(Field::int64), 1, &count, &value),
        "BackendGetAttribute");
  return value;
}

std::vector<int> Descriptor::numbers(int attribute, Field field, int64_t most) const {
  std::vector<int> values(static_cast<size_t>(most));
  int64_t count = 0;
  check(api().get_attribute(get(), attribute, static_cast<int>(field), most, &count, values.data()),
        "BackendGetAttribute");
  values.resize(static_cast<size_t>(std::min(count, most)));
  return values;
}

std::vector<Descriptor> Descriptor::descriptors(int attribute, Kind kind, int64_t most) const {
  std::vector<Descriptor> found;
  std::vector<void*> raw;
  for (int64_t i = 0; i < most; ++i) raw.push_back(found.emplace_back(kind).get());
  int64_t count = 0;
  check(api().get_attribute(get(), attribute, static_cast<int>(Field::descriptor), most, &count,
                            raw.data()),
        "BackendGetAttribute");
  found.erase(found.begin() + std::min(count, most), found.end());
  return found;
}

bool execute(const Descriptor& plan, const Descriptor& variant_pack, StreamHandle stream) {
  State& s = state();
  const std::lock_guard guard(s.lock);
  return api().set_stream(s.handle, stream) == 0 &&
         api().execute(s.handle, plan.get(), variant_pack.get()) == 0;
}

}  // namespace keratin::cuda::cudnn
