#include "keratin/passes/simplify.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_common.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

void check_simplify(std::string_view before, std::string_view after) {
  testing::check_pass(
      [](Module m) { return eliminate_dead(eliminate_common(simplify(std::move(m)))); }, before,
      after);
}

// What does not follow for every number must stay as it is.
void expect_not_simplified(std::string_view text) { check_simplify(text, text); }

TEST(Simplify, NeutralNumbers) {
  check_simplify(R"(module(%x: f32[3], %i: i32[3]) {
             %zero = constant() {value = f32[] {0}}
             %one = constant() {value = f32[] {1}}
             %a = add(%x, %zero)
             %b = sub(%a, %zero)
             %c = mul(%b, %one)
             %d = div(%c, %one)
             %e = pow(%d, %one)
             %ione = constant() {value = i32[] {1}}
             %f = floor_div(%i, %ione)
             %g = div(%f, %ione)
             return %e, %g
           })",
                 "module(%x: f32[3], %i: i32[3]) { return %x, %i }");
}

TEST(Simplify, NeutralNumbersThatBroadcastStillBroadcast) {
  check_simplify(R"(module(%x: f32[3]) {
             %zero = constant() {value = f32[2,1] {0, 0}}
             %z = constant() {value = f32[] {0}}
             %zeros = broadcast_to(%z) {shape = [2, 3]}
             %a = add(%x, %zeros)
             return %a
           })",
                 R"(module(%x: f32[3]) {
             %a = broadcast_to(%x) {shape = [2, 3]}
             return %a
           })");
}

TEST(Simplify, MultipliesByZeroForIntegersOnly) {
  check_simplify(R"(module(%x: f32[3], %i: i32[3]) {
             %z = constant() {value = f32[] {0}}
             %iz = constant() {value = i32[] {0}}
             %a = mul(%x, %z)
             %b = mul(%i, %iz)
             %c = sub(%x, %x)
             %d = sub(%i, %i)
             return %a, %b, %c, %d
           })",
                 R"(module(%x: f32[3], %i: i32[3]) {
             %z = constant() {value = f32[] {0}}
             %iz = constant() {value = i32[] {0}}
             %a = mul(%x, %z)
             %b = broadcast_to(%iz) {shape = [3]}
             %c = sub(%x, %x)
             return %a, %b, %c, %b
           })");
}

TEST(Simplify, Signs) {
  check_simplify(R"(module(%x: f32[3], %y: f32[3]) {
             %m = constant() {value = f32[] {-1}}
             %half = constant() {value = f32[] {0.5}}
             %nx = neg(%x)
             %ny = neg(%y)
             %a = neg(%nx)
             %b = add(%x, %ny)
             %c = add(%nx, %y)
             %d = sub(%x, %ny)
             %e = mul(%x, %m)
             %f = mul(%nx, %ny)
             %g = sub(%x, %y)
             %h = neg(%g)
             %i = mul(%x, %half)
             %j = neg(%i)
             %k = abs(%nx)
             %l = abs(%k)
             return %a, %b, %c, %d, %e, %f, %h, %j, %l
           })",
                 R"(module(%x: f32[3], %y: f32[3]) {
             %nx = neg(%x)
             %b = sub(%x, %y)
             %c = sub(%y, %x)
             %d = add(%x, %y)
             %f = mul(%x, %y)
             %mhalf = constant() {value = f32[] {-0.5}}
             %j = mul(%x, %mhalf)
             %k = abs(%x)
             return %x, %b, %c, %d, %nx, %f, %c, %j, %k
           })");
}

TEST(Simplify, DividesByPowersOfTwoWithAProduct) {
  check_simplify(R"(module(%x: f32[3], %h: f16[3]) {
             %a = constant() {value = f32[] {8}}
             %b = constant() {value = f32[] {10}}
             %c = constant() {value = f16[] {-0.25}}
             %d = div(%x, %a)
             %e = div(%x, %b)
             %f = div(%h, %c)
             return %d, %e, %f
           })",
                 R"(module(%x: f32[3], %h: f16[3]) {
             %b = constant() {value = f32[] {10}}
             %a = constant() {value = f32[] {0.125}}
             %d = mul(%x, %a)
             %e = div(%x, %b)
             %c = constant() {value = f16[] {-4}}
             %f = mul(%h, %c)
             return %d, %e, %f
           })");
}

TEST(Simplify, LeavesReciprocalsThatWouldBeSubnormal) {
  expect_not_simplified(R"(module(%x: f32[3], %h: f16[3], %i: i32[3]) {
             %a = constant() {value = f32[] {1.7014118346046923e38}}
             %c = constant() {value = f16[] {32768}}
             %k = constant() {value = i32[] {4}}
             %d = div(%x, %a)
             %f = div(%h, %c)
             %g = div(%i, %k)
             return %d, %f, %g
           })");
}

TEST(Simplify, Powers) {
  check_simplify(R"(module(%x: f32[3]) {
             %zero = constant() {value = f32[] {0}}
             %two = constant() {value = f32[] {2}}
             %three = constant() {value = f32[] {3}}
             %less = constant() {value = f32[] {-1}}
             %half = constant() {value = f32[] {0.5}}
             %a = pow(%x, %zero)
             %b = pow(%x, %two)
             %c = pow(%x, %three)
             %d = pow(%x, %less)
             %e = pow(%x, %half)
             return %a, %b, %c, %d, %e
           })",
                 R"(module(%x: f32[3]) {
             %half = constant() {value = f32[] {0.5}}
             %one = constant() {value = f32[] {1}}
             %a = broadcast_to(%one) {shape = [3]}
             %b = mul(%x, %x)
             %c = mul(%b, %x)
             %d = div(%one, %x)
             %e = pow(%x, %half)
             return %a, %b, %c, %d, %e
           })");
}

TEST(Simplify, RootsAndExtrema) {
  check_simplify(R"(module(%x: f32[3], %h: f16[3]) {
             %zero = constant() {value = f32[] {0}}
             %one = constant() {value = f32[] {1}}
             %hone = constant() {value = f16[] {1}}
             %low = constant() {value = f32[] {-inf}}
             %high = constant() {value = f32[] {inf}}
             %r = sqrt(%x)
             %a = div(%one, %r)
             %hr = sqrt(%h)
             %b = div(%hone, %hr)
             %c = maximum(%x, %x)
             %d = maximum(%c, %low)
             %e = minimum(%d, %high)
             %f = maximum(%e, %zero)
             %g = relu(%f)
             return %a, %b, %g
           })",
                 R"(module(%x: f32[3], %h: f16[3]) {
             %hone = constant() {value = f16[] {1}}
             %a = rsqrt(%x)
             %hr = sqrt(%h)
             %b = div(%hone, %hr)
             %g = relu(%x)
             return %a, %b, %g
           })");
}

TEST(Simplify, Selections) {
  check_simplify(R"(module(%p: bool[3], %x: f32[3], %y: f32[3], %s: f32[]) {
             %true = constant() {value = bool[] {true}}
             %no = constant() {value = bool[] {false}}
             %not = bit_not(%p)
             %a = select(%true, %x, %y)
             %b = select(%no, %x, %s)
             %c = select(%p, %y, %y)
             %d = select(%not, %x, %y)
             return %a, %b, %c, %d
           })",
                 R"(module(%p: bool[3], %x: f32[3], %y: f32[3], %s: f32[]) {
             %b = broadcast_to(%s) {shape = [3]}
             %d = select(%p, %y, %x)
             return %x, %b, %y, %d
           })");
}

TEST(Simplify, Bits) {
  check_simplify(R"(module(%p: bool[3], %i: i32[3], %u: u8[3]) {
             %true = constant() {value = bool[] {true}}
             %zero = constant() {value = i32[] {0}}
             %ones = constant() {value = u8[] {255}}
             %a = bit_and(%p, %true)
             %b = bit_xor(%a, %true)
             %c = bit_not(%b)
             %d = bit_or(%i, %zero)
             %e = bit_and(%d, %d)
             %f = bit_and(%e, %zero)
             %g = bit_and(%u, %ones)
             return %c, %e, %f, %g
           })",
                 R"(module(%p: bool[3], %i: i32[3], %u: u8[3]) {
             %zero = constant() {value = i32[] {0}}
             %f = broadcast_to(%zero) {shape = [3]}
             return %p, %i, %f, %u
           })");
}

TEST(Simplify, PointwiseOpsBroadcastByThemselves) {
  check_simplify(R"(module(%s: f32[], %r: f32[3,1], %y: f32[3,4]) {
             %a = broadcast_to(%s) {shape = [3, 4]}
             %b = mul(%a, %y)
             %c = broadcast_to(%r) {shape = [3, 4]}
             %d = add(%b, %c)
             return %d
           })",
                 R"(module(%s: f32[], %r: f32[3,1], %y: f32[3,4]) {
             %b = mul(%s, %y)
             %d = add(%b, %r)
             return %d
           })");
}

TEST(Simplify, ComputesBeforeABroadcast) {
  check_simplify(R"(module(%s: f32[], %r: f32[4], %y: f32[3,4]) {
             %a = broadcast_to(%s) {shape = [3, 4]}
             %b = exp(%a)
             %c = broadcast_to(%r) {shape = [3, 4]}
             %d = mul(%b, %c)
             %e = sum(%d) {axes = [0]}
             %f = cast(%a) {dtype = f16}
             return %e, %f
           })",
                 R"(module(%s: f32[], %r: f32[4], %y: f32[3,4]) {
             %b = exp(%s)
             %d = mul(%b, %r)
             %w = broadcast_to(%d) {shape = [3, 4]}
             %e = sum(%w) {axes = [0]}
             %f = cast(%s) {dtype = f16}
             %g = broadcast_to(%f) {shape = [3, 4]}
             return %e, %g
           })");
}

TEST(Simplify, AxesOfSizeOneNeedNoLoop) {
  check_simplify(R"(module(%x: f32[3,1,4,1]) {
             %a = sum(%x) {axes = [1, 3]}
             %b = max(%x) {axes = [1, 2], keepdims = true}
             %c = sum(%x)
             %d = transpose(%x) {permutation = [1, 0, 2, 3]}
             %e = transpose(%x) {permutation = [2, 1, 0, 3]}
             %f = broadcast_to(%x) {shape = [1, 3, 1, 4, 1]}
             return %a, %b, %c, %d, %e, %f
           })",
                 R"(module(%x: f32[3,1,4,1]) {
             %a = reshape(%x) {shape = [3, 4]}
             %b = max(%x) {axes = [2], keepdims = true}
             %d = reshape(%x) {shape = [1, 3, 4, 1]}
             %e = transpose(%x) {permutation = [2, 1, 0, 3]}
             %f = reshape(%x) {shape = [1, 3, 1, 4, 1]}
             return %a, %b, %x, %d, %e, %f
           })");
}

TEST(Simplify, EqualNumbersUnderAnyShape) {
  check_simplify(R"(module() {
             %c = constant() {value = f32[] {0.5}}
             %a = broadcast_to(%c) {shape = [3, 4]}
             %b = reshape(%a) {shape = [12]}
             %d = transpose(%a) {permutation = [1, 0]}
             %e = sum(%a) {axes = [0]}
             %f = mean(%a) {axes = [0]}
             %g = max(%b) {axes = [0]}
             return %b, %d, %e, %f, %g
           })",
                 R"(module() {
             %c = constant() {value = f32[] {0.5}}
             %b = broadcast_to(%c) {shape = [12]}
             %d = broadcast_to(%c) {shape = [4, 3]}
             %two = constant() {value = f32[] {1.5}}
             %e = broadcast_to(%two) {shape = [4]}
             %f = broadcast_to(%c) {shape = [4]}
             return %b, %d, %e, %f, %c
           })");
}

TEST(Simplify, TransposesBecomeFlagsOfMatmul) {
  check_simplify(R"(module(%a: f32[5,4,3], %b: f32[5,6,4], %c: f32[4,5,3]) {
             %at = transpose(%a) {permutation = [0, 2, 1]}
             %bt = transpose(%b) {permutation = [0, 2, 1]}
             %x = matmul(%at, %bt)
             %y = matmul(%at, %a)
             %z = matmul(%bt, %a) {transpose_a = true}
             %ct = transpose(%c) {permutation = [1, 2, 0]}
             %w = matmul(%ct, %a)
             return %x, %y, %z, %w
           })",
                 R"(module(%a: f32[5,4,3], %b: f32[5,6,4], %c: f32[4,5,3]) {
             %x = matmul(%a, %b) {transpose_a = true, transpose_b = true}
             %y = matmul(%a, %a) {transpose_a = true}
             %z = matmul(%b, %a)
             %ct = transpose(%c) {permutation = [1, 2, 0]}
             %w = matmul(%ct, %a)
             return %x, %y, %z, %w
           })");
}

TEST(Simplify, MatmulBroadcastsItsBatch) {
  check_simplify(R"(module(%a: f32[4,3], %b: f32[5,3,6], %c: f32[1,3]) {
             %ab = broadcast_to(%a) {shape = [5, 4, 3]}
             %x = matmul(%ab, %b)
             %cb = broadcast_to(%c) {shape = [4, 3]}
             %y = matmul(%cb, %b)
             return %x, %y
           })",
                 R"(module(%a: f32[4,3], %b: f32[5,3,6], %c: f32[1,3]) {
             %x = matmul(%a, %b)
             %cb = broadcast_to(%c) {shape = [4, 3]}
             %y = matmul(%cb, %b)
             return %x, %y
           })");
}

TEST(Simplify, RemovesOpsThatMoveNothing) {
  check_simplify(R"(module(%x: f32[3,1,4]) {
             %a = slice(%x) {start = [0, 0, 0], limit = [3, 1, 4], step = [1, 1, 1]}
             %b = pad(%a) {lo = [0, 0, 0], hi = [0, 0, 0], interior = [0, 0, 0]}
             %c = concat(%b) {axis = 2}
             %d = tile(%c) {repeats = [1, 1, 1]}
             %e = repeat(%d) {axis = 1}
             %f = roll(%e) {shift = 8, axis = 2}
             %g = reverse(%f) {axes = [1]}
             %h = reverse(%g) {axes = [0, 2]}
             %i = reverse(%h) {axes = [0, 2]}
             return %i
           })",
                 "module(%x: f32[3,1,4]) { return %x }");
  expect_not_simplified(R"(module(%x: f32[3,1,4]) {
             %a = slice(%x) {start = [1, 0, 0], limit = [3, 1, 4], step = [1, 1, 1]}
             %b = reverse(%x) {axes = [0]}
             %c = roll(%x) {shift = 1}
             %d = concat(%x, %x) {axis = 1}
             return %a, %b, %c, %d
           })");
}

// The gradients of relu, a bias and max_pool.
TEST(Simplify, ReluAndSumsGoBeforeUnpooling) {
  check_simplify(R"(module(%x: f32[2,4,6,3], %dy: f32[2,2,3,3]) {
             %zero = constant() {value = f32[] {0}}
             %y, %where = max_pool(%x) {window = [2, 2]}
             %back = max_unpool(%dy, %where) {window = [2, 2], sizes = [4, 6]}
             %positive = greater(%x, %zero)
             %dx = select(%positive, %back, %zero)
             %db = sum(%dx) {axes = [0, 1, 2]}
             return %y, %dx, %db
           })",
                 R"(module(%x: f32[2,4,6,3], %dy: f32[2,2,3,3]) {
             %zero = constant() {value = f32[] {0}}
             %y, %where = max_pool(%x) {window = [2, 2]}
             %positive = greater(%y, %zero)
             %masked = select(%positive, %dy, %zero)
             %dx = max_unpool(%masked, %where) {window = [2, 2], sizes = [4, 6]}
             %db = sum(%masked) {axes = [0, 1, 2]}
             return %y, %dx, %db
           })");
}

TEST(Simplify, UnpoolingStaysIfItHasOtherUsers) {
  expect_not_simplified(R"(module(%x: f32[2,4,6,3], %z: f32[2,4,6,3], %w: u8[2,2,3,3],
                            %dy: f32[2,2,3,3]) {
             %zero = constant() {value = f32[] {0}}
             %y, %where = max_pool(%x) {window = [2, 2]}
             %back = max_unpool(%dy, %where) {window = [2, 2], sizes = [4, 6]}
             %other = greater(%z, %zero)
             %a = select(%other, %back, %zero)
             %rows = sum(%back) {axes = [0, 2]}
             %loose = max_unpool(%dy, %w) {window = [2, 2], sizes = [4, 6]}
             %b = sum(%loose) {axes = [0, 1, 2]}
             return %y, %a, %rows, %b
           })");
}

// The gradient of a bias in front of a batch normalisation; of rows it says nothing.
TEST(Simplify, TheGradientOfABiasBeforeABatchNormIsZero) {
  check_simplify(R"(module(%x: f32[2,5,3], %mean: f32[3], %variance: f32[3], %dy: f32[2,5,3]) {
             %dx, %dscale, %doffset = batch_norm_grad(%x, %mean, %variance, %dy) {axis = 2}
             %db = sum(%dx) {axes = [0, 1]}
             %rows = sum(%dx) {axes = [0, 2]}
             %other = sum(%dscale) {axes = [0]}
             %half = cast(%dx) {dtype = bf16}
             %dh = sum(%half) {axes = [0, 1]}
             return %db, %rows, %other, %dh
           })",
                 R"(module(%x: f32[2,5,3], %mean: f32[3], %variance: f32[3], %dy: f32[2,5,3]) {
             %dx, %dscale, %doffset = batch_norm_grad(%x, %mean, %variance, %dy) {axis = 2}
             %zero = constant() {value = f32[] {0}}
             %db = broadcast_to(%zero) {shape = [3]}
             %rows = sum(%dx) {axes = [0, 2]}
             %other = sum(%dscale) {axes = [0]}
             %half = constant() {value = bf16[] {0}}
             %dh = broadcast_to(%half) {shape = [3]}
             return %db, %rows, %other, %dh
           })");
}

TEST(Simplify, AddsNothingToAGradientOfZeros) {
  check_simplify(R"(module(%g: f32[3,4]) {
             %z = constant() {value = f32[] {0}}
             %zeros = broadcast_to(%z) {shape = [3, 4]}
             %a = add(%g, %zeros)
             return %a
           })",
                 "module(%g: f32[3,4]) { return %g }");
}

}  // namespace
}  // namespace keratin
