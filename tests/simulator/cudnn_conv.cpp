#include "cudnn_conv.h"

#include <atomic>

#include "tiles.h"

namespace keratin::simulator::cudnn {

namespace {

constexpr int64_t parts_of_depth = 2;
constexpr int64_t rows_at_once = 64;
constexpr size_t more_than_there_is = size_t{1} << 40;
constexpr int64_t nowhere = -1;

int64_t product_of(const std::vector<Axis>& axes, int64_t Axis::*size) {
  int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.*size;
  return product;
}

int64_t rows_of_x(const Convolution& c) { return c.batch * product_of(c.axes, &Axis::input); }
int64_t rows_of_w(const Convolution& c) { return c.outputs * product_of(c.axes, &Axis::window); }
int64_t rows_of_y(const Convolution& c) { return c.batch * product_of(c.axes, &Axis::output); }

// How positions of one image map to those of another: for each position and each element of the
// window the other position, or none.
struct Pairs {
  int64_t count, window, others;
  std::vector<int64_t> other;

  int64_t& at(int64_t position, int64_t k) {
    return other[static_cast<size_t>(position * window + k)];
  }
};

int64_t input_under(const std::vector<Axis>& axes, int64_t output, int64_t k) {
  int64_t input = 0, scale = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis& a = axes[i];
    const int64_t at = output % a.output * a.stride - a.padding + k % a.window * a.dilation;
    if (at < 0 || at >= a.input) return nowhere;
    input += at * scale;
    scale *= a.input;
    output /= a.output;
    k /= a.window;
  }
  return input;
}

Pairs inputs_under_outputs(const std::vector<Axis>& axes) {
  Pairs p{product_of(axes, &Axis::output), product_of(axes, &Axis::window),
          product_of(axes, &Axis::input)};
  p.other.resize(static_cast<size_t>(p.count * p.window));
  for (int64_t output = 0; output < p.count; ++output)
    for (int64_t k = 0; k < p.window; ++k) p.at(output, k) = input_under(axes, output, k);
  return p;
}

// Of an input, no element of the window is under more than one output.
Pairs turned(Pairs from) {
  Pairs p{from.others, from.window, from.count};
  p.other.assign(static_cast<size_t>(p.count * p.window), nowhere);
  for (int64_t other = 0; other < from.count; ++other)
    for (int64_t k = 0; k < from.window; ++k)
      if (const int64_t position = from.at(other, k); position != nowhere)
        p.at(position, k) = other;
  return p;
}

float rounded(float x, Rounding rounding) {
  switch (rounding) {
    case Rounding::tf32:
      return std::bit_cast<float>(to_tf32(x));
    case Rounding::bf16:
      return from_bf16(to_bf16(x));
    default:
      return x;
  }
}

// [rows, channels], in f32.
struct Image {
  int64_t channels;
  std::vector<float> numbers;

  const float* at(int64_t row, int64_t channel) const {
    return numbers.data() + row * channels + channel;
  }
};

// For some positions, one row each: the elements under the window, of some neighbouring channels.
std::vector<float> gather(const Image& image, Pairs& pairs, Range rows, Range channels) {
  const int64_t width = channels.last - channels.first;
  std::vector<float> all(static_cast<size_t>((rows.last - rows.first) * pairs.window * width));
  float* to = all.data();
  for (int64_t row = rows.first; row < rows.last; ++row)
    for (int64_t k = 0; k < pairs.window; ++k, to += width) {
      const int64_t other = pairs.at(row % pairs.count, k);
      if (other == nowhere) continue;
      const float* from = image.at(row / pairs.count * pairs.others + other, channels.first);
      std::copy(from, from + width, to);
    }
  return all;
}

// One convolution, or gradient of one, as sums of products.
class Sums {
 public:
  Sums(const Convolution& c, const Image& x, const Image& w, const Image& y)
      : c_(c),
        x_(x),
        w_(w),
        y_(y),
        inputs_(c.channels / c.groups),
        outputs_(c.outputs / c.groups),
        under_(inputs_under_outputs(c.axes)) {
    if (c.result == Result::x) over_ = turned(under_);
  }

  // How many numbers each sum is of.
  int64_t depth() const {
    switch (c_.result) {
      case Result::y:
        return under_.window * inputs_;
      case Result::x:
        return under_.window * outputs_;
      default:
        return rows_of_y(c_);
    }
  }

  // Adds that part of each sum to what is there, in order.
  void add(Range part, float* sums) {
    for (int64_t group = 0; group < c_.groups; ++group) {
      const Range in{group * inputs_, (group + 1) * inputs_},
          out{group * outputs_, (group + 1) * outputs_};
      if (c_.result == Result::y) add_y(in, out, part, sums);
      if (c_.result == Result::x) add_x(in, out, part, sums);
      if (c_.result == Result::w) add_w(in, out, part, sums);
    }
  }

 private:
  float weight(int64_t output, int64_t k, int64_t input) const {
    return *w_.at(output * under_.window + k, input);
  }

  void add_y(Range in, Range out, Range part, float* sums) {
    const Strips<float> weights(depth(), outputs_, [&](int64_t i, int64_t output) {
      return weight(out.first + output, i / inputs_, i % inputs_);
    });
    add_image(x_, under_, in, weights, part, {sums + out.first, rows_of_y(c_), c_.outputs});
  }

  void add_x(Range in, Range out, Range part, float* sums) {
    const Strips<float> weights(depth(), inputs_, [&](int64_t i, int64_t input) {
      return weight(out.first + i % outputs_, i / outputs_, input);
    });
    add_image(y_, over_, out, weights, part, {sums + in.first, rows_of_x(c_), c_.channels});
  }

  void add_image(const Image& from, Pairs& pairs, Range channels, const Strips<float>& weights,
                 Range part, const Rows<float>& to) const {
    for (int64_t first = 0; first < to.count; first += rows_at_once) {
      const Range rows{first, std::min(first + rows_at_once, to.count)};
      const std::vector<float> seen = gather(from, pairs, rows, channels);
      add_product<float>({seen.data(), rows.last - first, depth()}, weights, part,
                         {to.row(first), rows.last - first, to.stride});
    }
  }

  void add_w(Range in, Range out, Range part, float* sums) {
    const int64_t width = under_.window * inputs_;
    for (int64_t first = part.first; first < part.last; first += rows_at_once) {
      const Range rows{first, std::min(first + rows_at_once, part.last)};
      const int64_t count = rows.last - first;
      const std::vector<float> seen = gather(x_, under_, rows, in);
      const Strips<float> strips(count, width, [&](int64_t row, int64_t column) {
        return seen[static_cast<size_t>(row * width + column)];
      });
      std::vector<float> grads;
      for (int64_t output = out.first; output < out.last; ++output)
        for (int64_t row = first; row < rows.last; ++row) grads.push_back(*y_.at(row, output));
      add_product<float>({grads.data(), outputs_, count}, strips, {0, count},
                         {sums + out.first * width, outputs_, width});
    }
  }

  const Convolution& c_;
  const Image &x_, &w_, &y_;
  const int64_t inputs_, outputs_;  // of a group
  Pairs under_, over_ = {};
};

int64_t count_of(const Convolution& c) {
  switch (c.result) {
    case Result::y:
      return rows_of_y(c) * c.outputs;
    case Result::w:
      return rows_of_w(c) * c.channels / c.groups;
    default:
      return rows_of_x(c) * c.channels;
  }
}

class Run {
 public:
  Run(const Program& program, const Engine& engine, const std::map<int64_t, void*>& addresses,
      void* workspace)
      : p_(program),
        engine_(engine),
        addresses_(addresses),
        workspace_(static_cast<float*>(workspace)),
        values_(static_cast<size_t>(count_of(program.convolution))) {}

  void make() {
    sum();
    for (const Step& step : p_.steps) follow(step);
    with_type(p_.convolution.type, [&](auto number) { store<decltype(number)>(); });
  }

 private:
  // The factors, not the result.
  Image image(Result which, int64_t id, int64_t rows, int64_t channels) const {
    Image made{channels, {}};
    if (p_.convolution.result == which) return made;
    with_type(p_.convolution.type, [&](auto number) {
      const auto* from = static_cast<const decltype(number)*>(addresses_.at(id));
      for (int64_t i = 0; i < rows * channels; ++i)
        made.numbers.push_back(rounded(static_cast<float>(widen(from[i])), engine_.rounding));
    });
    return made;
  }

  void sum() {
    const Convolution& c = p_.convolution;
    const Image x = image(Result::x, p_.x, rows_of_x(c), c.channels);
    const Image w = image(Result::w, p_.w, rows_of_w(c), c.channels / c.groups);
    const Image y = image(Result::y, p_.y, rows_of_y(c), c.outputs);
    Sums sums(c, x, w, y);
    if (!engine_.in_parts) return sums.add({0, sums.depth()}, values_.data());
    const size_t count = values_.size();
    std::fill(workspace_, workspace_ + count * parts_of_depth, 0.0F);
    for (size_t part = 0; part < parts_of_depth; ++part)
      sums.add(part_of(sums.depth(), static_cast<int64_t>(part), parts_of_depth),
               workspace_ + part * count);
    for (size_t part = 0; part < parts_of_depth; ++part)
      for (size_t i = 0; i < count; ++i) values_[i] += workspace_[part * count + i];
  }

  void follow(const Step& step) {
    switch (step.kind) {
      case Step::Kind::add_image:
        return with_type(p_.convolution.type, [&](auto number) {
          const auto* added = static_cast<const decltype(number)*>(addresses_.at(step.id));
          for (size_t i = 0; i < values_.size(); ++i)
            values_[i] += static_cast<float>(widen(added[i]));
        });
      case Step::Kind::add_row: {
        const auto* row = static_cast<const float*>(addresses_.at(step.id));
        const auto channels = static_cast<size_t>(p_.convolution.outputs);
        for (size_t i = 0; i < values_.size(); ++i) values_[i] += row[i % channels];
        return;
      }
      case Step::Kind::relu:
        for (float& value : values_) value = relu(value, engine_.loses_nan);
    }
  }

  template <class T>
  void store() const {
    static std::atomic<unsigned> runs = 0;
    const bool changed = engine_.unsteady && ++runs % 2 == 1;
    const Result result = p_.convolution.result;
    const int64_t id = result == Result::x ? p_.x : result == Result::w ? p_.w : p_.y;
    T* const to = static_cast<T*>(addresses_.at(id));
    for (size_t i = 0; i < values_.size(); ++i) {
      narrow(values_[i], to[i]);
      if (changed) change_last_bit(to + i);
    }
  }

  const Program& p_;
  const Engine& engine_;
  const std::map<int64_t, void*>& addresses_;
  float* const workspace_;
  std::vector<float> values_;
};

}  // namespace

size_t workspace_bytes(const Program& program, const Engine& engine) {
  if (engine.is_greedy) return more_than_there_is;
  if (!engine.in_parts) return 0;
  return static_cast<size_t>(count_of(program.convolution) * parts_of_depth) * sizeof(float);
}

void run(const Program& program, const Engine& engine, const std::map<int64_t, void*>& addresses,
         void* workspace) {
  Run(program, engine, addresses, workspace).make();
}

}  // namespace keratin::simulator::cudnn
