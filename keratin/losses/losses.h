#pragma once

// Every loss of Keras.
#include "keratin/losses/classification.h"
#include "keratin/losses/regression.h"
