#include "keratin/ops/all_reduce.h"

#include <algorithm>
#include <numeric>

#include "keratin/base/text.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/shards.h"

namespace keratin::ops {
namespace {

std::vector<Values> split_rows(const Values& all, size_t columns) {
  std::vector<Values> rows;
  for (size_t i = 0; i < all.size(); i += columns)
    rows.emplace_back(all.begin() + static_cast<ptrdiff_t>(i),
                      all.begin() + static_cast<ptrdiff_t>(i + columns));
  return rows;
}

Values joined_rows(const std::vector<Values>& rows) {
  Values all;
  for (const Values& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

// The addends on their devices; only constants may still have to be moved there.
std::vector<Values> addends_of(const Node& n) {
  const std::vector<Device>& devices = n.attr<AllReduceAttrs>().devices;
  Values addends;
  for (size_t i = 0; i < n.input_count(); ++i)
    addends.push_back(whole_on(n.in(i), devices[i % devices.size()]));
  return split_rows(addends, devices.size());
}

Types infer(const Node& n) {
  const std::vector<Device>& devices = n.attr<AllReduceAttrs>().devices;
  const size_t count = devices.size();
  require(count > 0 && n.input_count() > 0 && n.input_count() % count == 0,
          "all_reduce: ", n.input_count(), " inputs are not a multiple of ", count, " devices");
  for (const Device device : devices)
    require(std::count(devices.begin(), devices.end(), device) == 1, "all_reduce: ", device,
            " is named twice");
  Types types;
  for (size_t i = 0; i < n.input_count(); ++i) {
    const Type &type = n.in(i).type(), &first = n.in(i - i % count).type();
    require(type.dtype == first.dtype && type.shape == first.shape,
            "all_reduce: the addends of a sum must have one type, got ", first, " and ", type);
    types.push_back({type.dtype, type.shape, devices[i % count]});
  }
  return types;
}

}  // namespace

// y_d = Σ_e x_e on every device d
const OpDef all_reduce_op{
    .name = "all_reduce",
    .attrs = attrs_type<AllReduceAttrs>(),
    .infer = infer,
    .decompose = [](const Node& n) { return joined_rows(all_reduce_by_transfers(addends_of(n))); },
    .places = true,
};

std::vector<Values> all_reduce(const std::vector<Values>& bucket) {
  AllReduceAttrs attrs;
  for (const Value& addend : bucket[0]) attrs.devices.push_back(addend.type().device);
  const size_t devices = attrs.devices.size();
  return split_rows(emit_node(all_reduce_op, joined_rows(bucket), std::move(attrs)).outputs(),
                    devices);
}

std::vector<Values> all_reduce_by_transfers(const std::vector<Values>& bucket) {
  std::vector<size_t> largest_first(bucket.size());
  std::iota(largest_first.begin(), largest_first.end(), size_t{0});
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](size_t a, size_t b) {
    return bucket[a][0].shape().count() > bucket[b][0].shape().count();
  });
  std::vector<int64_t> load(bucket[0].size(), 0);
  std::vector<Values> all(bucket.size());
  for (const size_t k : largest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bucket[k][0].shape().count();
    const Values& addends = bucket[k];
    const Device device = addends[static_cast<size_t>(least - load.begin())].type().device;
    const Value total = collective::reduce(addends, device);
    for (const Value& addend : addends) all[k].push_back(whole_on(total, addend.type().device));
  }
  return all;
}

}  // namespace keratin::ops
