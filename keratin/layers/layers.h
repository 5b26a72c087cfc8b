#pragma once

// Every layer a model can be made of.
#include "keratin/layers/attention.h"
#include "keratin/layers/batch_normalization.h"
#include "keratin/layers/conv.h"
#include "keratin/layers/conv_transpose.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/depthwise_conv.h"
#include "keratin/layers/global_pooling.h"
#include "keratin/layers/group_normalization.h"
#include "keratin/layers/lambda.h"
#include "keratin/layers/layer_normalization.h"
#include "keratin/layers/pooling.h"
#include "keratin/layers/rms_normalization.h"
#include "keratin/layers/separable_conv.h"
#include "keratin/layers/unit_normalization.h"
