#pragma once

// Every optimizer of Keras.
#include "keratin/optimizers/adam.h"
#include "keratin/optimizers/sgd.h"
