#pragma once

// Every layer a model can be made of.
#include "keratin/layers/dense.h"
#include "keratin/layers/lambda.h"
