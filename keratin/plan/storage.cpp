#include "keratin/plan/storage.h"

#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"
#include "keratin/plan/rows.h"

namespace keratin {

Storage::Storage(const Block& block) : owners_(block), offsets_(block), first_index_(block) {
  const auto number_outputs = [&](const Node& node) {
    first_index_[node] = count_;
    count_ += node.output_count();
  };
  for (const auto& parameter : block.parameters()) number_outputs(*parameter);
  for (const auto& node : block.nodes()) {
    number_outputs(*node);
    if (!is_alias(*node)) continue;
    owners_[*node] = owner(node->in());
    offsets_[*node] = offsets_[node->in().node()] + first_byte(*node);
  }
}

bool Storage::is_alias(const Node& node) const {
  return ops::shares_memory(node) || is_input_rows(node);
}

// Rows of a caller's tensor are read in place. Rows of other values are copied: as views, the whole
// value would live as long as its smallest slice; and so are rows on GPUs, whose kernels read
// aligned memory only.
bool Storage::is_input_rows(const Node& node) const {
  if (!takes_rows(node) || node.device().kind != Device::Kind::cpu) return false;
  const Node& source = owner(node.in()).node();
  return is_parameter(source) && !source.attr<ParameterAttrs>().state &&
         source.device().kind == Device::Kind::cpu;
}

}  // namespace keratin
