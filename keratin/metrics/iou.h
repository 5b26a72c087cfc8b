#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// Intersection over union of classes: tp / (tp + fp + fn), averaged over those that occur. The
// state counts pairs of classes, in integers by default.
namespace keratin::metrics {

inline constexpr DType iou_dtype = DType::i32;

// The settings in which the metrics of this family differ.
struct IoUSettings {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;  // class indices; else scores along the axis
  bool sparse_y_pred = true;
  int64_t axis = -1;
  std::optional<double> threshold = {};  // predictions are probabilities of class 1
};

class KERATIN_API IoUState : public MetricState {
 public:
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;
  Direction direction() const override { return Direction::up; }

 protected:
  using MetricState::MetricState;
  void start(IoUSettings settings);

 private:
  IoUSettings settings_;
  Variable matrix_;
};

template <class Config>
class KERATIN_API IoUOf final : public MetricOf<IoUOf<Config>, Config, IoUState> {
 public:
  IoUOf(Config config, MetricOptions options)
      : MetricOf<IoUOf<Config>, Config, IoUState>(std::move(config), std::move(options)) {
    this->start(this->cfg.settings());
  }
};

struct KERATIN_API IoUConfig {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "IoU";
  static constexpr DType default_dtype = iou_dtype;
  static constexpr auto fields = field_list(field("num_classes", &IoUConfig::num_classes),
                                            field("target_class_ids", &IoUConfig::target_class_ids),
                                            field("ignore_class", &IoUConfig::ignore_class),
                                            field("sparse_y_true", &IoUConfig::sparse_y_true),
                                            field("sparse_y_pred", &IoUConfig::sparse_y_pred),
                                            field("axis", &IoUConfig::axis));
  IoUSettings settings() const;
};

// For two classes, which a threshold separates.
struct KERATIN_API BinaryIoUConfig {
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;

  static constexpr std::string_view keras_name = "BinaryIoU";
  static constexpr DType default_dtype = iou_dtype;
  static constexpr auto fields =
      field_list(field("target_class_ids", &BinaryIoUConfig::target_class_ids),
                 field("threshold", &BinaryIoUConfig::threshold));
  IoUSettings settings() const;
};

// For all classes.
struct KERATIN_API MeanIoUConfig {
  int64_t num_classes = 0;
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "MeanIoU";
  static constexpr DType default_dtype = iou_dtype;
  static constexpr auto fields = field_list(field("num_classes", &MeanIoUConfig::num_classes),
                                            field("ignore_class", &MeanIoUConfig::ignore_class),
                                            field("sparse_y_true", &MeanIoUConfig::sparse_y_true),
                                            field("sparse_y_pred", &MeanIoUConfig::sparse_y_pred),
                                            field("axis", &MeanIoUConfig::axis));
  IoUSettings settings() const;
};

struct KERATIN_API OneHotIoUConfig {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "OneHotIoU";
  static constexpr DType default_dtype = iou_dtype;
  static constexpr auto fields =
      field_list(field("num_classes", &OneHotIoUConfig::num_classes),
                 field("target_class_ids", &OneHotIoUConfig::target_class_ids),
                 field("ignore_class", &OneHotIoUConfig::ignore_class),
                 field("sparse_y_pred", &OneHotIoUConfig::sparse_y_pred),
                 field("axis", &OneHotIoUConfig::axis));
  IoUSettings settings() const;
};

struct KERATIN_API OneHotMeanIoUConfig {
  int64_t num_classes = 0;
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "OneHotMeanIoU";
  static constexpr DType default_dtype = iou_dtype;
  static constexpr auto fields =
      field_list(field("num_classes", &OneHotMeanIoUConfig::num_classes),
                 field("ignore_class", &OneHotMeanIoUConfig::ignore_class),
                 field("sparse_y_pred", &OneHotMeanIoUConfig::sparse_y_pred),
                 field("axis", &OneHotMeanIoUConfig::axis));
  IoUSettings settings() const;
};

using IoU = SharedMetric<IoUOf<IoUConfig>>;
using BinaryIoU = SharedMetric<IoUOf<BinaryIoUConfig>>;
using MeanIoU = SharedMetric<IoUOf<MeanIoUConfig>>;
using OneHotIoU = SharedMetric<IoUOf<OneHotIoUConfig>>;
using OneHotMeanIoU = SharedMetric<IoUOf<OneHotMeanIoUConfig>>;

}  // namespace keratin::metrics
