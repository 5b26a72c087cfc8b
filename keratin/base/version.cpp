#include "keratin/base/version.h"

namespace keratin {

// The build reads the version from this line.
std::string_view version() { return "0.1.0"; }

}  // namespace keratin
