#include "keratin/ops/einsum.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/einsum_equation.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin::ops {

namespace {

// A value and the labels of its axes.
struct Term {
  Value value;
  Labels labels;
};

bool has(const Labels& labels, Label label) { return labels.find(label) != Labels::npos; }

// The labels of one that are (or are not) in another, in the order of the first.
Labels common(const Labels& a, const Labels& b) {
  Labels result;
  for (Label label : a)
    if (has(b, label)) result.push_back(label);
  return result;
}
Labels without(const Labels& a, const Labels& b) {
  Labels result;
  for (Label label : a)
    if (!has(b, label)) result.push_back(label);
  return result;
}

int64_t size_of_axis(const Term& term, Label label) {
  return term.value.shape()[static_cast<int64_t>(term.labels.find(label))];
}

Dims sizes(const Term& term, const Labels& labels) {
  Dims dims;
  for (Label label : labels) dims.push_back(size_of_axis(term, label));
  return dims;
}

int64_t count(const Term& term, const Labels& labels) { return Shape(sizes(term, labels)).count(); }

// The axes in the order of the labels, which are those of the term.
Term ordered(const Term& term, const Labels& labels) {
  Dims permutation;
  for (Label label : labels) permutation.push_back(static_cast<int64_t>(term.labels.find(label)));
  return {transpose(term.value, permutation), labels};
}

// The diagonal of the axes first and second: put last, flattened, every (size + 1)st element.
Term diagonal(const Term& term, size_t first, size_t second) {
  const int64_t rank = term.value.rank();
  const int64_t size = term.value.shape()[static_cast<int64_t>(first)];
  Dims permutation, flat;
  Labels labels;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis == static_cast<int64_t>(first) || axis == static_cast<int64_t>(second)) continue;
    permutation.push_back(axis);
    flat.push_back(term.value.shape()[axis]);
    labels.push_back(term.labels[static_cast<size_t>(axis)]);
  }
  permutation.push_back(static_cast<int64_t>(first));
  permutation.push_back(static_cast<int64_t>(second));
  flat.push_back(size * size);
  labels.push_back(term.labels[first]);
  const Value rows = reshape(transpose(term.value, permutation), flat);
  return {slice_axis(rows, -1, 0, size * size, size + 1), labels};
}

Term without_repeats(Term term) {
  for (size_t i = 0; i < term.labels.size();) {
    const size_t next = term.labels.find(term.labels[i], i + 1);
    if (next == Labels::npos) {
      ++i;
    } else {
      term = diagonal(term, i, next);
      i = 0;
    }
  }
  return term;
}

// Removes axes of size 1 that other terms broadcast.
Term without_broadcast(Term term, const Labels& labels, const Dims& full) {
  for (size_t i = term.labels.size(); i-- > 0;) {
    const auto axis = static_cast<int64_t>(i);
    if (term.value.shape()[axis] != 1 || full[labels.find(term.labels[i])] == 1) continue;
    term.value = squeeze(term.value, axis);
    term.labels.erase(i, 1);
  }
  return term;
}

// Sums over the axes that are not needed any more.
Term summed(const Term& term, const Labels& needed) {
  Dims axes;
  for (size_t i = 0; i < term.labels.size(); ++i)
    if (!has(needed, term.labels[i])) axes.push_back(static_cast<int64_t>(i));
  return axes.empty() ? term : Term{sum(term.value, axes), common(term.labels, needed)};
}

// One operand of a matmul: [batch, outside, inside], or with the last two axes swapped if the term
// is stored that way, as `swapped` says.
Value as_matrices(const Term& term, const Labels& batch, const Labels& outside,
                  const Labels& inside, bool& swapped) {
  swapped = term.labels == batch + inside + outside && term.labels != batch + outside + inside;
  const Term moved = swapped ? term : ordered(term, batch + outside + inside);
  Dims dims = {count(term, outside), count(term, inside)};
  if (swapped) std::swap(dims[0], dims[1]);
  if (!batch.empty()) dims.insert(dims.begin(), count(term, batch));
  return reshape(moved.value, dims);
}

// Axes of both terms are batch axes if still needed; the matmul sums over the others.
Term product(const Term& a, const Term& b, const Labels& needed) {
  const Labels shared = common(a.labels, b.labels);
  const Labels batch = common(shared, needed), inside = without(shared, needed);
  const Labels left = without(a.labels, shared), right = without(b.labels, shared);
  Dims dims = sizes(a, batch + left);
  const Dims last = sizes(b, right);
  dims.insert(dims.end(), last.begin(), last.end());
  const Labels labels = batch + left + right;
  if (inside.empty()) {
    Dims a_dims = sizes(a, batch + left), b_dims = sizes(b, batch);
    a_dims.resize(labels.size(), 1);
    b_dims.resize(batch.size() + left.size(), 1);
    b_dims.insert(b_dims.end(), last.begin(), last.end());
    return {reshape(ordered(a, batch + left).value, a_dims) *
                reshape(ordered(b, batch + right).value, b_dims),
            labels};
  }
  MatmulAttrs attrs;
  bool b_stored_first = false;
  const Value x = as_matrices(a, batch, left, inside, attrs.transpose_a);
  const Value y = as_matrices(b, batch, right, inside, b_stored_first);
  attrs.transpose_b = !b_stored_first;
  return {reshape(matmul(x, y, attrs), dims), labels};
}

// The labels that the result or a term other than i and j has.
Labels needed_besides(const std::vector<Term>& terms, size_t i, size_t j, const Labels& result) {
  Labels needed = result;
  for (size_t k = 0; k < terms.size(); ++k)
    if (k != i && k != j) needed += terms[k].labels;
  return needed;
}

double product_size(const Term& a, const Term& b, const Labels& needed) {
  double size = 1;
  for (Label label : a.labels)
    if (has(needed, label)) size *= static_cast<double>(size_of_axis(a, label));
  for (Label label : without(b.labels, a.labels))
    if (has(needed, label)) size *= static_cast<double>(size_of_axis(b, label));
  return size;
}

// Multiplies the two whose product is smallest.
void contract_a_pair(std::vector<Term>& terms, const Labels& result) {
  size_t best_i = 0, best_j = 1;
  double best = -1;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = i + 1; j < terms.size(); ++j) {
      const double size = product_size(terms[i], terms[j], needed_besides(terms, i, j, result));
      if (best >= 0 && size >= best) continue;
      best = size;
      best_i = i;
      best_j = j;
    }
  const Labels needed = needed_besides(terms, best_i, best_j, result);
  terms[best_i] = product(summed(terms[best_i], needed + terms[best_j].labels),
                          summed(terms[best_j], needed + terms[best_i].labels), needed);
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(best_j));
}

Types infer_einsum(const Node& n) {
  require(n.input_count() > 0, "einsum: needs at least one operand");
  std::vector<Shape> shapes;
  for (const Value& input : n.inputs()) {
    require(input.dtype() == n.in().dtype() && input.dtype() != DType::boolean,
            "einsum: operands must be numbers of one dtype, got ", n.in().type(), " and ",
            input.type());
    shapes.push_back(input.shape());
  }
  const EinsumEquation equation(n.attr<EinsumAttrs>().equation, shapes);
  return {{n.in().dtype(), Shape(equation.sizes_of(equation.result))}};
}

Values decompose_einsum(const Node& n) {
  std::vector<Shape> shapes;
  for (const Value& input : n.inputs()) shapes.push_back(input.shape());
  const EinsumEquation equation(n.attr<EinsumAttrs>().equation, shapes);
  std::vector<Term> terms;
  for (size_t i = 0; i < n.input_count(); ++i)
    terms.push_back(without_repeats(
        without_broadcast({n.in(i), equation.operands[i]}, equation.labels, equation.sizes)));
  while (terms.size() > 1) contract_a_pair(terms, equation.result);
  return {ordered(summed(terms[0], equation.result), equation.result).value};
}

}  // namespace

// out[result…] = Σ_{labels not in the result} Π_k operand_k[labels_k…]
const OpDef einsum_op{.name = "einsum",
                      .attrs = attrs_type<EinsumAttrs>(),
                      .infer = infer_einsum,
                      .decompose = decompose_einsum};

Value einsum(const std::string& equation, const Values& operands) {
  return emit(einsum_op, operands, EinsumAttrs{equation});
}

}  // namespace keratin::ops
