#pragma once

// Every metric of Keras.
#include "keratin/metrics/accuracy.h"
#include "keratin/metrics/confusion.h"
#include "keratin/metrics/f_score.h"
#include "keratin/metrics/iou.h"
#include "keratin/metrics/probabilistic.h"
#include "keratin/metrics/reduction.h"
#include "keratin/metrics/regression.h"
