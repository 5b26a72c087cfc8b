#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "keratin/base/text.h"
#include "keratin/layers/preprocessing.h"

// How lookups learn a vocabulary.
namespace keratin {
namespace {

struct Seen {
  int64_t count = 0, documents = 0;
};

// What documents had in them.
template <class Token, class Element>
class Counts {
 public:
  void add(std::span<const Element> document) {
    ++documents_;
    std::unordered_set<Element> here;
    for (const Element& element : document) {
      Seen& seen = seen_[Token(element)];
      ++seen.count;
      if (here.insert(element).second) ++seen.documents;
    }
  }
  bool empty() const { return seen_.empty(); }
  void forget(const Element& token) { seen_.erase(Token(token)); }
  int64_t documents() const { return documents_; }

  // The most frequent tokens first; of equally frequent ones, the largest first.
  std::vector<std::pair<Token, Seen>> sorted() const {
    std::vector<std::pair<Token, Seen>> all(seen_.begin(), seen_.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second.count != b.second.count ? a.second.count > b.second.count : a.first > b.first;
    });
    return all;
  }

 private:
  std::unordered_map<Token, Seen> seen_;
  int64_t documents_ = 0;
};

Tensor tensor_of(const std::vector<std::string>& tokens) { return Tensor(tokens); }
Tensor tensor_of(const std::vector<int64_t>& tokens) {
  return Tensor::of(DType::i64, {static_cast<int64_t>(tokens.size())}, tokens);
}

// The tokens that are learned, and how many documents have each.
struct Learned {
  bool any = false;
  Tensor tokens;
  std::vector<int64_t> documents;
  int64_t document_count = 0;
};

template <class Token, class Element>
Learned learned(const std::function<bool(Tensor&)>& next_document, const std::vector<Tensor>& leave,
                std::optional<int64_t> max_tokens) {
  Counts<Token, Element> counts;
  for (Tensor document; next_document(document);)
    counts.add(std::span<const Element>(document.data<Element>()));
  Learned out{
      .any = !counts.empty(), .tokens = {}, .documents = {}, .document_count = counts.documents()};
  for (const Tensor& token : leave) counts.forget(token.data<Element>()[0]);
  auto all = counts.sorted();
  if (max_tokens) {
    // A negative number leaves out as many at the end, as a slice in Python does.
    const auto size = static_cast<int64_t>(all.size());
    const int64_t kept = *max_tokens < 0 ? std::max<int64_t>(0, size + *max_tokens) : *max_tokens;
    all.resize(static_cast<size_t>(std::min(size, kept)));
  }
  std::vector<Token> tokens;
  for (auto& [token, seen] : all) {
    tokens.push_back(std::move(token));
    out.documents.push_back(seen.documents);
  }
  out.tokens = tensor_of(tokens);
  return out;
}

// The rows of tensors, or their elements, one after another.
class Documents {
 public:
  Documents(const std::vector<Tensor>& batches, DType dtype, std::string_view who)
      : batches_(batches), dtype_(dtype), who_(who) {}

  bool next(Tensor& document) {
    while (batch_ < batches_.size() && row_ == rows(batches_[batch_])) {
      ++batch_;
      row_ = 0;
    }
    if (batch_ == batches_.size()) return false;
    Tensor batch = batches_[batch_];
    require(dtype_ == DType::i64 ? batch.dtype() != DType::string : batch.dtype() == DType::string,
            who_, ": adapt expected ", dtype_, ", got ", batch.dtype(), batch.shape());
    Tensor row = batch.shape().rank() > 1 ? batch.row(row_) : batch;
    ++row_;
    if (dtype_ == DType::i64) row = row.cast(DType::i64);
    document = row.reshape({row.count()});
    return true;
  }

 private:
  static int64_t rows(const Tensor& batch) {
    require(batch.defined(), "adapt: expected data, got an empty tensor");
    return batch.shape().rank() > 1 ? batch.shape()[0] : 1;
  }

  const std::vector<Tensor>& batches_;
  DType dtype_;
  std::string_view who_;
  size_t batch_ = 0;
  int64_t row_ = 0;
};

}  // namespace

void LookupLayer::adapt(const Tensor& data) {
  const bool elements = data.defined() && data.shape().rank() == 1;
  adapt(std::vector<Tensor>{elements ? data.reshape({data.count(), 1}) : data});
}

void LookupLayer::adapt(const std::vector<Tensor>& batches) {
  Documents documents(batches, rules_.dtype, class_name());
  learn([&](Tensor& document) { return documents.next(document); });
}

void LookupLayer::learn(const std::function<bool(Tensor&)>& next_document) {
  require(!given_, "Cannot adapt layer '", name(),
          "' after setting a static vocabulary via `vocabulary` argument or `set_vocabulary()` "
          "method.");
  std::vector<Tensor> leave;
  for (const Json* token : {&rules_.mask_token, &rules_.oov_token})
    if (!token->is_null()) leave.push_back(special(*token));
  const std::optional<int64_t> most =
      rules_.max_tokens ? std::optional(*rules_.max_tokens - token_start()) : std::nullopt;
  const Learned found = rules_.dtype == DType::string
                            ? learned<std::string, std::string_view>(next_document, leave, most)
                            : learned<int64_t, int64_t>(next_document, leave, most);
  if (!found.any) return freeze();
  tokens_ = found.tokens;
  freeze();
  if (rules_.output_mode != "tf_idf") return;
  std::vector<double> weights;
  for (const int64_t documents : found.documents)
    weights.push_back(static_cast<float>(std::log(1 + static_cast<double>(found.document_count) /
                                                          static_cast<double>(1 + documents))));
  set_weights_of_tokens(weights, false);
}

}  // namespace keratin
