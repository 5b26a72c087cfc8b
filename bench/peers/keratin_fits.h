#pragma once

#include "bench/peers/keratin_workloads.h"

namespace keratin::bench {

// Workloads of whole models, through the calls users make: a `fit` epoch, `predict` of one sample.
Task make_fit(const nlohmann::json& spec, int threads);
Task make_predict_one(const nlohmann::json& spec, int threads);

}  // namespace keratin::bench
