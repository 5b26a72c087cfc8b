#include "keratin/ir/type.h"

namespace keratin {

std::ostream& operator<<(std::ostream& out, const Type& type) {
  out << type.dtype << type.shape;
  if (type.device != Device{}) out << '@' << type.device;
  return out;
}

}  // namespace keratin
