#pragma once

// Every optimizer of Keras, and its learning rate schedules.
#include "keratin/optimizers/adam.h"
#include "keratin/optimizers/schedules.h"
#include "keratin/optimizers/sgd.h"
#include "keratin/optimizers/wrappers.h"
