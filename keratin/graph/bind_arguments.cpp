#include "keratin/graph/bind_arguments.h"

#include "keratin/base/text.h"

namespace keratin {

void refuse_argument(const Layer& layer, const std::string& what) {
  std::string takes;
  for (const std::string_view name : layer.call_arguments())
    takes += text(takes.empty() ? "" : ", ", name);
  fail(layer.class_name(), " '", layer.name(), "': its call takes (", takes, "), ", what);
}

}  // namespace keratin
