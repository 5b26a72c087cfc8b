#pragma once

// Keras's callbacks. Each function returns a shared pointer:
// .callbacks = {EarlyStopping({.patience = 2})}.
#include "keratin/callbacks/checkpoints.h"
#include "keratin/callbacks/loggers.h"
#include "keratin/callbacks/schedulers.h"
#include "keratin/callbacks/stopping.h"
#include "keratin/callbacks/tensorboard.h"
