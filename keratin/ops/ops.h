#pragma once

// Every op a program can be written in.
#include "keratin/ops/cond.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scan.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/transfer.h"
