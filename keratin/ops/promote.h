#pragma once

#include "keratin/ir/node.h"

// What Keras makes of operands of different dtypes. The ops themselves take equal ones only.
namespace keratin::ops {

// The dtype that holds both as Keras has it: any float wins over integers, integers over bool;
// float16 and bfloat16 meet in float32. (uint8 and int8 meet in int16 there, in i32 here.)
DType promoted(DType a, DType b);
// A Python number counts less than a tensor: only its kind matters.
DType promoted_with_number(DType a, bool whole);
// A float dtype for an op that has no integer result.
DType promoted_to_float(DType a);

// Casts all of them to what holds all of them.
Values promote(Values values);

}  // namespace keratin::ops
