#pragma once

#include "keratin/ir/node.h"

// Keras's type promotion. The ops themselves need operands of one dtype.
namespace keratin::ops {

// The common dtype as in Keras: any float wins over integers, integers over bool;
// float16 and bfloat16 give float32. (uint8 and int8 give int16 there, i32 here.)
DType promoted(DType a, DType b);
// A Python number counts less than a tensor: only its kind matters.
DType promoted_with_number(DType a, bool whole);
// A float dtype for an op that has no integer result.
DType promoted_to_float(DType a);

// Casts all of them to their common dtype.
Values promote(Values values);

}  // namespace keratin::ops
