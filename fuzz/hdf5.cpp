#include "keratin/files/hdf5.h"
#include "fuzz/file.h"

namespace keratin {
namespace {

void read_attributes(const hdf5::Object& object) {
  for (const std::string& name : object.attribute_names()) {
    try {
      object.attribute(name);
    } catch (const UserError&) {
    }
  }
}

void read_dataset(const hdf5::Dataset& dataset) {
  read_attributes(dataset);
  try {
    const hdf5::Value value = dataset.value();
    if (value.dims() != dataset.dims()) std::abort();
    if (!value.is_string()) value.tensor().hash();  // reads every byte
  } catch (const UserError&) {
  }
}

}  // namespace
}  // namespace keratin

// Any bytes give an HDF5 file or a UserError; so does every attribute and dataset in it. Checksums
// are not compared: a fuzzer cannot guess them, but an attacker can compute them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  try {
    const hdf5::File file(fuzz::file_of(data, size), {.unpacked = 1 << 20, .checksums = false});
    std::vector<hdf5::Group> todo = {file.root()};
    while (!todo.empty()) {
      const hdf5::Group group = todo.back();
      todo.pop_back();
      read_attributes(group);
      for (const std::string& name : group.names()) {
        if (group.has_group(name)) todo.push_back(group.group(name));
        if (group.has_dataset(name)) read_dataset(group.dataset(name));
      }
    }
  } catch (const UserError&) {
  }
  return 0;
}
