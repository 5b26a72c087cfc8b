#pragma once

#include "keratin/model/program_cache.h"
#include "keratin/train/trainer.h"

namespace keratin {

// The programs of `predict` for a model whose steps are the user's. The trainer must live as long.
std::shared_ptr<ProgramCache> predict_step_programs(Trainer& trainer);

}  // namespace keratin
