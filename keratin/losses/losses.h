#pragma once

// Every loss of Keras.
#include "keratin/losses/probabilistic.h"
#include "keratin/losses/regression.h"
