#pragma once

#include <optional>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"

namespace keratin {

// Sizes of which some are unknown, as in {std::nullopt, 1, 3}; null in configs.
class KERATIN_API OpenDims {
 public:
  using Size = std::optional<int64_t>;

  OpenDims() = default;
  OpenDims(std::initializer_list<Size> sizes) : sizes_(sizes) {}

  size_t size() const { return sizes_.size(); }
  const Size& operator[](size_t i) const { return sizes_[i]; }
  auto begin() const { return sizes_.begin(); }
  auto end() const { return sizes_.end(); }

  Json to_json() const {
    Json json = Json::array();
    for (const Size& size : sizes_) json.push_back(size ? Json(*size) : Json());
    return json;
  }
  static OpenDims from_json(const Json& json) {
    OpenDims dims;
    for (const Json& size : json.as_array())
      dims.sizes_.push_back(size.is_null() ? Size() : Size(size.as_int()));
    return dims;
  }

 private:
  std::vector<Size> sizes_;
};

}  // namespace keratin
