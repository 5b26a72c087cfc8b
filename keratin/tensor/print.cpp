#include <algorithm>
#include <ostream>

#include "keratin/base/text.h"
#include "keratin/tensor/print_numbers.h"

// Tensors as NumPy prints arrays, line breaks included.
namespace keratin {
namespace {

constexpr int64_t threshold = 1000;  // larger tensors are shown in part
constexpr int64_t edge = 3;          // how many items are shown at each end of an axis
constexpr size_t line_width = 75;

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : tensor_(tensor),
        in_part_(tensor.count() > threshold),
        strides_(tensor.shape().strides()),
        number_(number_format(tensor, shown())) {}

  std::string print() { return items(0, 0, " ", line_width); }

 private:
  bool leaves_out(int64_t axis) const { return in_part_ && tensor_.shape()[axis] > 2 * edge; }

  // The indices along an axis that are shown.
  std::vector<int64_t> indices(int64_t axis) const {
    std::vector<int64_t> out;
    const int64_t size = tensor_.shape()[axis];
    for (int64_t i = 0; i < size; ++i)
      if (!leaves_out(axis) || i < edge || i >= size - edge) out.push_back(i);
    return out;
  }
  // The positions of the elements that are shown.
  std::vector<int64_t> shown() const {
    std::vector<int64_t> positions = {0};
    for (int64_t axis = 0; axis < tensor_.shape().rank(); ++axis) {
      std::vector<int64_t> next;
      for (const int64_t position : positions)
        for (const int64_t i : indices(axis))
          next.push_back(position + i * strides_[static_cast<size_t>(axis)]);
      positions = std::move(next);
    }
    return positions;
  }

  // What stands in brackets from an axis on. `indent` is what lines after the first begin with.
  std::string items(int64_t axis, int64_t position, const std::string& indent, size_t width) {
    const int64_t rest = tensor_.shape().rank() - axis;
    const std::string out =
        rest == 1 ? line(position, indent, width) : blocks(axis, position, indent, width);
    return text("[", std::string_view(out).substr(indent.size()), "]");
  }

  std::string blocks(int64_t axis, int64_t position, const std::string& indent, size_t width) {
    const auto newlines = static_cast<size_t>(tensor_.shape().rank() - axis - 1);
    std::string out;
    const std::vector<int64_t> all = indices(axis);
    for (size_t i = 0; i < all.size(); ++i) {
      if (i > 0) out += std::string(newlines, '\n');
      if (i == edge && leaves_out(axis)) {
        out += indent;
        out += "...";
        out += std::string(newlines, '\n');
      }
      out += indent;
      out += items(axis + 1, position + all[i] * strides_[static_cast<size_t>(axis)], indent + ' ',
                   width - 1);
    }
    return out;
  }

  // The last axis, broken into lines.
  std::string line(int64_t position, const std::string& indent, size_t width) {
    const int64_t axis = tensor_.shape().rank() - 1;
    std::string done, current = indent;
    const auto add = [&](const std::string& word) {
      if (current.size() + word.size() > width - 1 && current.size() > indent.size()) {
        current.erase(current.find_last_not_of(' ') + 1);
        done += current + '\n';
        current = indent;
      }
      current += word;
    };
    const std::vector<int64_t> all = indices(axis);
    for (size_t i = 0; i < all.size(); ++i) {
      if (i > 0) current += ' ';
      if (i == edge && leaves_out(axis)) {
        add("...");
        current += ' ';
      }
      add(number_(position + all[i]));
    }
    return done + current;
  }

  const Tensor& tensor_;
  bool in_part_;
  Dims strides_;
  std::function<std::string(int64_t)> number_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "an empty tensor";
  out << tensor.dtype() << tensor.shape();
  if (tensor.shape().rank() == 0) return out << ' ' << scalar_text(tensor, 0);
  return out << '\n' << (tensor.count() == 0 ? "[]" : Printer(tensor).print());
}

std::string exact_text(const Tensor& tensor) {
  std::string out = text(tensor.dtype(), tensor.shape(), " {");
  for (int64_t i = 0; i < tensor.count(); ++i) out += (i > 0 ? ", " : "") + exact_number(tensor, i);
  return out + '}';
}

}  // namespace keratin
