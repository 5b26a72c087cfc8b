#pragma once

// Every loss of Keras.
#include "keratin/losses/circle.h"
#include "keratin/losses/ctc.h"
#include "keratin/losses/hinge.h"
#include "keratin/losses/probabilistic.h"
#include "keratin/losses/regression.h"
#include "keratin/losses/segmentation.h"
