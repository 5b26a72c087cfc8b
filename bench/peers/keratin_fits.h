#pragma once

#include "bench/peers/keratin_workloads.h"

namespace keratin::bench {

// Workloads of whole models by public calls: an epoch of `fit`, `predict` of one sample.
Task make_fit(const nlohmann::json& spec, int threads);
Task make_predict_one(const nlohmann::json& spec, int threads);

}  // namespace keratin::bench
