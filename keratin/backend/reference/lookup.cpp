#include "keratin/ops/lookup.h"

#include <algorithm>

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/fingerprint.h"
#include "keratin/ops/lookup_operands.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {
namespace {

// The position of a value in a sorted table, or -1.
template <class T>
int64_t position_in(std::span<const T> table, const T& value) {
  const auto found = std::lower_bound(table.begin(), table.end(), value);
  return found == table.end() || *found != value ? -1 : found - table.begin();
}

template <class T>
std::span<const T> elements(const View& view) {
  return {view.as<T>(), static_cast<size_t>(view.shape().count())};
}

template <class T>
void lookup_all(const Node& node, const BinaryOperands<View>& v) {
  const std::span<const T> table = elements<T>(v.b);
  int64_t* out = v.y.as<int64_t>();
  for (const T& value : elements<T>(v.a)) {
    *out = position_in(table, value);
    require(*out++ >= 0 || !node.attr<ops::LookupAttrs>().must_be_there,
            "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values ", value,
            ", consider setting `num_oov_indices=1`.");
  }
}

void lookup(const Node& node, const BinaryOperands<View>& v) {
  if (v.a.dtype() == DType::string)
    lookup_all<std::string_view>(node, v);
  else
    lookup_all<int64_t>(node, v);
}

uint64_t hash_of(const ops::HashAttrs& attrs, std::string_view s) {
  if (!attrs.strong) return ops::fingerprint64(s);
  return ops::siphash({static_cast<uint64_t>(attrs.key_low), static_cast<uint64_t>(attrs.key_high)},
                      s);
}

// As TensorFlow's as_string.
template <class S>
std::string digits(S value) {
  if constexpr (std::is_same_v<S, bool>)
    return value ? "true" : "false";
  else
    return std::to_string(static_cast<int64_t>(value));
}

void hash_bucket(const Node& node, const UnaryOperands<View>& v) {
  const auto& attrs = node.attr<ops::HashAttrs>();
  const auto bins = static_cast<uint64_t>(attrs.bins);
  int64_t* out = v.y.as<int64_t>();
  const auto add = [&](std::string_view s) {
    *out++ = static_cast<int64_t>(hash_of(attrs, s) % bins);
  };
  if (v.x.dtype() == DType::string) {
    for (const std::string_view s : elements<std::string_view>(v.x)) add(s);
    return;
  }
  dispatch(v.x.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<S>)
      for (const S value : elements<S>(v.x)) add(digits(value));
  });
}

// A string's fingerprint, or the integer itself.
uint64_t feature(const View& view, size_t position) {
  if (view.dtype() == DType::string)
    return ops::fingerprint64(elements<std::string_view>(view)[position]);
  return dispatch(view.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<S>)
      return static_cast<uint64_t>(static_cast<int64_t>(elements<S>(view)[position]));
    else
      return uint64_t{0};
  });
}

void cross_hash(const Node& node, const ops::CrossOperands<View>& v) {
  constexpr uint64_t key = 0xDECAFCAFFE;
  const auto bins = static_cast<uint64_t>(node.attr<ops::CrossAttrs>().bins);
  for (size_t i = 0; i < static_cast<size_t>(v.y.shape().count()); ++i) {
    uint64_t hash = key;
    for (const View& input : v.inputs) hash = ops::joined_fingerprints(hash, feature(input, i));
    v.y.as<int64_t>()[i] = static_cast<int64_t>(hash % bins);
  }
}

void text_ids(const Node& node, const ops::TextOperands<View>& v) {
  const auto& attrs = node.attr<ops::TextAttrs>();
  const auto texts = elements<std::string_view>(v.texts),
             table = elements<std::string_view>(v.table);
  const auto width = static_cast<size_t>(v.y.shape().back());
  const auto rows = static_cast<size_t>(v.y.shape().count(0, v.y.shape().rank() - 1));
  const size_t row = rows == 0 ? 0 : texts.size() / rows;
  std::fill_n(v.y.as<int64_t>(), rows * width, attrs.depth == 0 ? attrs.empty : 0);
  ops::Tokenizer tokenizer(attrs.rules());
  for (size_t i = 0; i < rows; ++i) {
    const std::span<int64_t> out(v.y.as<int64_t>() + i * width, width);
    size_t next = 0;
    for (const std::string_view token : tokenizer.tokens(texts.subspan(i * row, row))) {
      const int64_t found = token.empty() ? -1 : position_in(table, token);
      const int64_t id = found >= 0 ? v.ids.as<int64_t>()[found] : attrs.other;
      if (attrs.depth == 0) {
        if (next == width) break;
        out[next++] = token.empty() ? attrs.empty : id;
      } else if (!token.empty() && id >= 0 && id < attrs.depth) {
        ++out[static_cast<size_t>(id)];
      }
    }
  }
}

}  // namespace

extern const KernelDef lookup_loop{
    .name = "lookup", .ops = {&ops::lookup_op}, .make = make_loop<BinaryOperands, lookup>};
extern const KernelDef hash_bucket_loop{.name = "hash_bucket",
                                        .ops = {&ops::hash_bucket_op},
                                        .make = make_loop<UnaryOperands, hash_bucket>};
extern const KernelDef cross_hash_loop{.name = "cross_hash",
                                       .ops = {&ops::cross_hash_op},
                                       .make = make_loop<ops::CrossOperands, cross_hash>};
extern const KernelDef text_ids_loop{
    .name = "text_ids", .ops = {&ops::text_ids_op}, .make = make_loop<ops::TextOperands, text_ids>};

}  // namespace keratin::reference
