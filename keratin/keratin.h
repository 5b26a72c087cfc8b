// All a user needs: the headers named here, and what they include, are Keratin's public face.
#pragma once

#include "keratin/autodiff/gradients.h"
#include "keratin/base/version.h"
#include "keratin/data/dataset.h"
#include "keratin/engine/compile.h"
#include "keratin/engine/evaluate.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/model/clone.h"
#include "keratin/model/model.h"
#include "keratin/model/plot.h"
#include "keratin/model/summary.h"
#include "keratin/ops/ops.h"
#include "keratin/tensor/tensor.h"
