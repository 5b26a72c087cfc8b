#pragma once

#include <optional>

#include "keratin/base/export.h"
#include "keratin/base/json.h"

// Python's indices: x[:, 0] is x[{Slice{}, 0}], x[..., None] is x[{ellipsis, new_axis}].
namespace keratin {

// start:stop:step
struct Slice {
  std::optional<int64_t> start = {}, stop = {}, step = {};
};
struct Ellipsis {};
struct NewAxis {};
inline constexpr Ellipsis ellipsis;
inline constexpr NewAxis new_axis;

// One item of an index: a position, a Slice, `ellipsis` or `new_axis`.
class KERATIN_API Index {
 public:
  Index(int position) : json_(position) {}      // NOLINT(google-explicit-constructor)
  Index(int64_t position) : json_(position) {}  // NOLINT(google-explicit-constructor)
  Index(const Slice& slice);                    // NOLINT(google-explicit-constructor)
  Index(Ellipsis);                              // NOLINT(google-explicit-constructor)
  Index(NewAxis) {}                             // NOLINT(google-explicit-constructor)
  const Json& json() const { return json_; }

 private:
  Json json_;
};

}  // namespace keratin
