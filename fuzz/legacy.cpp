#include "fuzz/file.h"
#include "fuzz/json_mutator.h"
#include "fuzz/model.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_writer.h"

namespace keratin::fuzz {
namespace {

void copy_attributes(const hdf5::Object& from, hdf5::NewObject& to) {
  for (const std::string& name : from.attribute_names()) {
    const hdf5::Value value = from.attribute(name);
    if (!value.is_string())
      to.attribute(name, value.tensor());
    else if (value.dims().empty())
      to.attribute(name, value.string());
    else
      to.attribute(name, value.strings());
  }
}

void copy_group(const hdf5::Group& from, hdf5::NewGroup& to) {
  copy_attributes(from, to);
  for (const std::string& name : from.names()) {
    if (from.has_group(name)) copy_group(from.group(name), to.group(name));
    if (from.has_dataset(name)) to.dataset(name, from.dataset(name).view());
  }
}

class Text final : public files::Sink {
 public:
  void write(files::Bytes bytes) override { all.append(files::as_text(bytes)); }
  std::string all;
};

// A copy of the file with one of its configs mutated.
std::string with_another_config(const uint8_t* data, size_t size, std::mt19937& random) {
  const hdf5::File file(file_of(data, size), {.unpacked = 1 << 20, .checksums = false});
  const char* name = random() % 3 == 0 ? "training_config" : "model_config";
  hdf5::Writer writer;
  copy_group(file.root(), writer.root());
  const std::string config = file.root().attribute(name).string();
  writer.root().attribute(name, JsonMutator(random()).run(config, ""));
  Text out;
  writer.write(out);
  return out.all;
}

}  // namespace
}  // namespace keratin::fuzz

// Any bytes give a model from a legacy HDF5 file, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  keratin::fuzz::open_model(data, size, ".h5");
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace keratin;
  std::mt19937 random(seed);
  if (random() % 2 == 0) try {
      const std::string changed = fuzz::with_another_config(data, size, random);
      if (fuzz::JsonMutator::copy_out(changed, data, max_size)) return changed.size();
    } catch (const UserError&) {
    }
  return LLVMFuzzerMutate(data, size, max_size);
}
