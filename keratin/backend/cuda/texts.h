#pragma once

// The texts that NVRTC reads, from files of the library: made by CMake.
namespace keratin::cuda::texts {

extern const char* const prelude;    // kernels/prelude.h
extern const char* const standard;   // kernels/standard.h
extern const char* const scalar;     // ops/scalar.h
extern const char* const attention;  // kernels/attention.h
extern const char* const gru;        // kernels/gru.h
extern const char* const lstm;       // kernels/lstm.h
extern const char* const norm;       // kernels/norm.h
extern const char* const product;    // kernels/product.h
extern const char* const recurrent;  // kernels/recurrent.h
extern const char* const rows;       // kernels/rows.h
extern const char* const scatter;    // kernels/scatter.h
extern const char* const sort;       // kernels/sort.h
extern const char* const tiles;      // kernels/tiles.h
extern const char* const philox;     // ops/philox.h

}  // namespace keratin::cuda::texts
