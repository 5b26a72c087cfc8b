#pragma once

// Every metric of Keras.
#include "keratin/metrics/accuracy.h"
