#include "keratin/graph/build_scope.h"

#include <vector>

#include "keratin/graph/layer.h"

namespace keratin {
namespace {

thread_local std::vector<const std::string*> layer_names;  // outermost first

}  // namespace

BuildScope::BuildScope(const Layer& layer) { layer_names.push_back(&layer.name()); }
BuildScope::~BuildScope() { layer_names.pop_back(); }

std::string BuildScope::path_of(const std::string& weight) {
  std::string path;
  for (const std::string* name : layer_names) path += *name + "/";
  return path + weight;
}

}  // namespace keratin
