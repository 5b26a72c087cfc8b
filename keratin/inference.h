// What runs models that exist: load_model, predict, tensors and devices. A program that includes
// this header instead of keratin/keratin.h compiles in a fraction of the time.
#pragma once

#include "keratin/base/version.h"
#include "keratin/base/warning.h"
#include "keratin/data/npy.h"
#include "keratin/engine/devices.h"
#include "keratin/model/model.h"
#include "keratin/model/saving.h"
#include "keratin/tensor/tensor.h"
