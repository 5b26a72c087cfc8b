#pragma once

#include <iosfwd>
#include <span>

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct LoadOptions;

// Loads a model that Keras or Keratin saved: a .keras file, a folder with the same members, or a
// legacy .h5 of Keras 1, 2 or 3. The model is compiled as it was, with its optimizer's state, so
// that training can continue. The format is found from the contents, not the name. A config in JSON
// gives a model with new weights.
KERATIN_API Model load_model(const std::filesystem::path& path);
KERATIN_API Model load_model(const std::filesystem::path& path, const LoadOptions& options);
// The same from bytes, which are not needed afterwards, or from a stream, which is read to its end.
KERATIN_API Model load_model(std::span<const std::byte> bytes);
KERATIN_API Model load_model(std::span<const std::byte> bytes, const LoadOptions& options);
KERATIN_API Model load_model(std::istream& in);
KERATIN_API Model load_model(std::istream& in, const LoadOptions& options);

// Makes a model with new weights from the JSON of `to_json`, of Keras 3, 2 or 1.
KERATIN_API Model model_from_json(const std::string& json);
KERATIN_API Model model_from_json(const std::string& json, const LoadOptions& options);

}  // namespace keratin
