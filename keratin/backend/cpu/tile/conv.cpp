#include "keratin/backend/cpu/tile/conv.h"

#include <algorithm>

#include "keratin/backend/cpu/align.h"
#include "keratin/backend/cpu/levels/pack.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/backend/cpu/tile/depthwise_conv.h"
#include "keratin/backend/cpu/tile/filter_grad.h"
#include "keratin/backend/cpu/tile/tap_conv.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

// One tap, stride 1: pixels are the rows of a matrix.
class MatmulConv final : public Conv {
 public:
  MatmulConv(const ConvDesc& conv, ConvDirection direction, const ConvOptions& options)
      : direction_(direction),
        matmul_(describe_as_matmul(conv, direction), options.threads, options.level) {}

  size_t scratch_bytes() const override { return matmul_.scratch_bytes(); }
  std::string describe() const override { return "as matmul, " + matmul_.describe(); }
  bool takes_addend_in_place() const override { return matmul_.takes_addend_in_place(); }
  size_t packed_bytes() const override { return matmul_.packed_bytes(); }
  void pack(const void* filter, void* packed) const override { matmul_.pack(filter, packed); }
  std::string describe_packing() const override { return matmul_.describe_packing(); }
  void run(const ConvArgs& args) const override {
    MatmulArgs operands{.c = args.result, .bias = args.bias, .addend = args.addend};
    operands.a = direction_ == ConvDirection::grad_input ? args.y : args.x;
    operands.b = direction_ == ConvDirection::grad_filter ? args.y : args.filter;
    operands.scratch = args.scratch;
    operands.hook = args.hook;
    matmul_.run(operands);
  }

  static MatmulDesc describe_as_matmul(const ConvDesc& conv, ConvDirection direction) {
    const int64_t pixels = conv.batch * conv.output_size();
    if (direction == ConvDirection::grad_input) {
      return dense_matmul(conv.dtype, pixels, conv.channels, conv.filters, false, true);
    }
    if (direction == ConvDirection::grad_filter) {
      return dense_matmul(conv.dtype, conv.channels, conv.filters, pixels, true, false);
    }
    MatmulDesc desc = dense_matmul(conv.dtype, pixels, conv.filters, conv.channels);
    desc.post = conv.post;
    desc.cap = conv.cap;
    desc.hook = conv.hook;
    desc.packed_b = conv.packed_filter;
    return desc;
  }

 private:
  ConvDirection direction_;
  TiledMatmul matmul_;
};

class TapsConv final : public Conv {
 public:
  TapsConv(const ConvDesc& conv, ConvDirection direction, const ConvOptions& options)
      : direction_(direction),
        conv_(direction == ConvDirection::forward ? forward_taps(conv) : backward_taps(conv),
              options.threads, options.level) {}

  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string describe() const override { return conv_.describe(); }
  size_t packed_bytes() const override { return conv_.packed_bytes(); }
  void pack(const void* filter, void* packed) const override { conv_.pack_filter(filter, packed); }
  std::string describe_packing() const override { return conv_.describe_packing(); }
  void run(const ConvArgs& args) const override {
    conv_.run({.input = direction_ == ConvDirection::forward ? args.x : args.y,
               .filter = args.filter,
               .output = args.result,
               .bias = args.bias,
               .addend = args.addend,
               .scratch = args.scratch,
               .hook = args.hook});
  }

 private:
  ConvDirection direction_;
  TapConv conv_;
};

class FilterGradConv final : public Conv {
 public:
  FilterGradConv(const ConvDesc& conv, const ConvOptions& options)
      : grad_(conv, options.threads, options.deterministic, options.level) {}

  size_t scratch_bytes() const override { return grad_.scratch_bytes(); }
  std::string describe() const override { return grad_.describe(); }
  void run(const ConvArgs& args) const override {
    grad_.run({.x = args.x, .dy = args.y, .dw = args.result, .scratch = args.scratch});
  }

 private:
  FilterGrad grad_;
};

std::unique_ptr<Conv> make_wide(const ConvDesc& desc, ConvDirection direction,
                                const ConvOptions& options) {
  if (desc.is_matmul()) return std::make_unique<MatmulConv>(desc, direction, options);
  if (direction == ConvDirection::grad_filter) {
    return std::make_unique<FilterGradConv>(desc, options);
  }
  return std::make_unique<TapsConv>(desc, direction, options);
}

// Halves: everything is converted to f32, and the result back.
class HalfConv final : public Conv {
 public:
  HalfConv(const ConvDesc& desc, ConvDirection direction, const ConvOptions& options)
      : desc_(desc), direction_(direction), options_(options) {
    ConvDesc wide = desc;
    wide.dtype = DType::f32;
    wide.hook = false;
    conv_ = make_wide(wide, direction, options);
    int64_t at = static_cast<int64_t>(aligned(conv_->scratch_bytes()));
    const int64_t sizes[count] = {
        desc.batch * desc.input_size() * desc.channels,
        desc.taps() * desc.group_channels() * desc.filters,
        desc.batch * desc.output_size() * desc.filters, uses(TilePost::bias) ? desc.filters : 0,
        uses(TilePost::addend) ? desc.batch * desc.output_size() * desc.filters : 0};
    for (int i = 0; i < count; ++i) {
      sizes_[i] = sizes[i];
      offsets_[i] = at;
      at += aligned(sizes[i] * 4);
    }
    scratch_bytes_ = static_cast<size_t>(at);
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string describe() const override { return "in f32, " + conv_->describe(); }

  void run(const ConvArgs& args) const override {
    const int result = direction_ == ConvDirection::forward      ? y
                       : direction_ == ConvDirection::grad_input ? x
                                                                 : filter;
    const void* sources[count] = {args.x, args.filter, args.y, args.bias, args.addend};
    for (int i = 0; i < count; ++i) {
      if (i != result) widen(sources[i], i, args.scratch);
    }
    ConvArgs wide{.x = array_at(args.scratch, x),
                  .filter = array_at(args.scratch, filter),
                  .y = array_at(args.scratch, y),
                  .result = array_at(args.scratch, result),
                  .bias = array_at(args.scratch, bias),
                  .addend = array_at(args.scratch, addend),
                  .scratch = args.scratch};
    conv_->run(wide);
    parallel_for(options_.threads, sizes_[result], grain, [&](int64_t begin, int64_t end) {
      routines<PackRoutines>(options_.level)
          .unpack[desc_.dtype]({array_at(args.scratch, result) + begin * 4,
                                static_cast<char*>(args.result) + begin * 2, 1, end - begin, 0, 0});
    });
    if (desc_.hook) {
      args.hook.run(args.hook.context, 0, desc_.batch * desc_.output_size(), 0, desc_.filters);
    }
  }

 private:
  enum Array { x, filter, y, bias, addend, count };
  static constexpr int64_t grain = 16 << 10;

  bool uses(TilePost post) const {
    return std::find(desc_.post.begin(), desc_.post.end(), post) != desc_.post.end();
  }
  char* array_at(void* scratch, int array) const {
    return static_cast<char*>(scratch) + offsets_[array];
  }
  void widen(const void* from, int array, void* scratch) const {
    parallel_for(options_.threads, sizes_[array], grain, [&](int64_t begin, int64_t end) {
      routines<PackRoutines>(options_.level)
          .pack[desc_.dtype]({static_cast<const char*>(from) + begin * 2,
                              array_at(scratch, array) + begin * 4, 1, end - begin, 0, 1, 0,
                              end - begin});
    });
  }

  ConvDesc desc_;
  ConvDirection direction_;
  ConvOptions options_;
  std::unique_ptr<Conv> conv_;
  int64_t sizes_[count] = {}, offsets_[count] = {};
  size_t scratch_bytes_ = 0;
};

}  // namespace

std::string refuse_conv(const ConvDesc& desc) {
  if (!is_float(desc.dtype)) return text("no tiles for ", desc.dtype);
  const int64_t row = std::max(desc.input[2] * desc.channels, desc.output[2] * desc.filters);
  const int64_t plane = std::max(desc.input[1], desc.output[1]) * row;
  constexpr int64_t reach = int64_t{1} << 26;  // offsets inside a tile are 32 bits wide
  if (plane * desc.kernel[0] * 2 > reach) return "planes are too large";
  return "";
}

bool takes_packed_filter(const ConvDesc& desc) {
  const bool half = desc.dtype == DType::f16 || desc.dtype == DType::bf16;
  return !half && !is_depthwise(desc) && desc.batch * desc.output_size() > 0 &&
         desc.taps() * desc.group_channels() * desc.filters > 0;
}

bool packs_filter(const ConvDesc& desc, const ConvOptions& options) {
  if (!takes_packed_filter(desc)) return false;
  if (!desc.is_matmul()) return true;
  return packs_b(MatmulConv::describe_as_matmul(desc, ConvDirection::forward), options.threads,
                 options.level);
}

std::unique_ptr<Conv> make_conv(const ConvDesc& desc, ConvDirection direction,
                                const ConvOptions& options) {
  const std::string reason = refuse_conv(desc);
  ensure(reason.empty(), reason);
  if (is_depthwise(desc)) return make_depthwise(desc, direction, options);
  const bool half = desc.dtype == DType::f16 || desc.dtype == DType::bf16;
  if (half) return std::make_unique<HalfConv>(desc, direction, options);
  return make_wide(desc, direction, options);
}

}  // namespace keratin::cpu
