#pragma once

#include <functional>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// A loop over time that carries state.
namespace keratin::ops {

// A node's inputs: the initial carries, the xs, then constants that every step sees. The region
// takes (carries, one slice of each x, constants) and gives (new carries, one slice of each y).
// The outputs are the final carries and the ys.
struct KERATIN_API ScanAttrs {
  int64_t carries = 0;
  int64_t xs = 0;
  int64_t length = unknown;  // of time; unknown: what the xs say
  bool reverse = false;      // from the last step to the first; ys stay where their xs are
  static constexpr auto fields =
      field_list(field("carries", &ScanAttrs::carries), field("xs", &ScanAttrs::xs),
                 field("length", &ScanAttrs::length), field("reverse", &ScanAttrs::reverse));
};

struct ScanOptions {
  int64_t length = unknown;  // needed when there are no xs
  bool reverse = false;
};

// The results of a step, or of the whole loop, where each y has a leading axis of time.
struct Scanned {
  Values carries;
  Values ys;
};

// carries, ys[t] = body(carries, xs[t]) for t = 0, 1, …; xs have a leading axis of time. A carry
// keeps its type. The body may use any value of the program around it. Runs as a loop of any
// length; a loop without steps returns `init`.
using ScanBody = std::function<Scanned(const Values& carries, const Values& xs)>;
KERATIN_API Scanned scan(const Values& init, const Values& xs, const ScanBody& body,
                         ScanOptions options = {});

// How many steps a scan node makes.
KERATIN_API int64_t scan_length(const Node& node);

}  // namespace keratin::ops
