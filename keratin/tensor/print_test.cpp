#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "keratin/base/text.h"
#include "keratin/tensor/tensor.h"

// The expected strings are those of NumPy 2.4: `str(array)`.
namespace keratin {
namespace {

// What stands under the line with dtype and shape.
std::string printed(const Tensor& tensor) {
  const std::string all = text(tensor);
  return all.substr(all.find(tensor.shape().rank() == 0 ? ' ' : '\n') + 1);
}

Tensor count_up(int64_t count, const Shape& shape) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return {values, shape};
}

TEST(TensorPrint, HasALineWithDTypeAndShape) {
  EXPECT_EQ(text(Tensor({{1.F, 2.5F}, {3.F, 4.F}})), "f32[2,2]\n[[1.  2.5]\n [3.  4. ]]");
  EXPECT_EQ(text(Tensor::scalar(DType::f32, 0.1)), "f32[] 0.1");
  EXPECT_EQ(text(Tensor()), "an empty tensor");
  EXPECT_EQ(text(Tensor::zeros(DType::f32, {0, 3})), "f32[0,3]\n[]");
}

TEST(TensorPrint, AlignsFloatsAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor({1.5, 0.0, 1.234567890})), "[1.5        0.         1.23456789]");
  EXPECT_EQ(printed(Tensor({1.0, 2.0, 3.0})), "[1. 2. 3.]");
  EXPECT_EQ(printed(Tensor({1.0, 2.0, -10.0})), "[  1.   2. -10.]");
  EXPECT_EQ(printed(Tensor({100.0, 2.0, -1.0})), "[100.   2.  -1.]");
  EXPECT_EQ(printed(Tensor({-100.0, 2.0, 1.0})), "[-100.    2.    1.]");
  EXPECT_EQ(printed(Tensor({0.0, -0.0})), "[ 0. -0.]");
}

TEST(TensorPrint, WritesNaNAndInfinityAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor({double{NAN}, double{INFINITY}})), "[nan inf]");
  EXPECT_EQ(printed(Tensor({double{NAN}, -double{INFINITY}})), "[ nan -inf]");
}

TEST(TensorPrint, TakesExponentsWhereNumPyDoes) {
  EXPECT_EQ(printed(Tensor({1.234e9})), "[1.234e+09]");
  EXPECT_EQ(printed(Tensor({1.234e1, 1e2, 1e123})), "[1.234e+001 1.000e+002 1.000e+123]");
  EXPECT_EQ(printed(Tensor({1e0, 1e5, 1e10, 1e15, 1e20})), "[1.e+00 1.e+05 1.e+10 1.e+15 1.e+20]");
  EXPECT_EQ(printed(Tensor({1e23, 1e24})), "[1.e+23 1.e+24]");
  EXPECT_EQ(printed(Tensor({1e6F, 999999.F})), "[1.00000e+06 9.99999e+05]");
  EXPECT_EQ(printed(Tensor({999999.F})), "[999999.]");
  EXPECT_EQ(printed(Tensor::of<double>(DType::f16, {6}, {-420, 440, -350, -980, -1010, -660})),
            "[-4.20e+02  4.40e+02 -3.50e+02 -9.80e+02 -1.01e+03 -6.60e+02]");
}

TEST(TensorPrint, FillsExponentFormsWithExactDigitsAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor({6.0337945e-04F, -6.5028593e-02F, 1.6275891e-12F, -5.8569370e+08F})),
            "[ 6.0337945e-04 -6.5028593e-02  1.6275891e-12 -5.8569370e+08]");
}

TEST(TensorPrint, RoundsToEightDigitsAndBreaksLinesAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor({0.2918820979355541, 0.5064172631089138, 0.2848750619642916,
                            0.4342965294660567, 0.7326538397312751, 0.3459503329096204,
                            0.0862072768214508, 0.39112753029631175})),
            "[0.2918821  0.50641726 0.28487506 0.43429653 0.73265384 0.34595033\n"
            " 0.08620728 0.39112753]");
  EXPECT_EQ(printed(count_up(30, {30})),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29]");
}

TEST(TensorPrint, HalfFloatsHaveTheirOwnShortestDigits) {
  EXPECT_EQ(printed(Tensor::of<double>(DType::f16, {6}, {0, 0.1, 0.2, 0.3, 0.4, 0.5})),
            "[0.  0.1 0.2 0.3 0.4 0.5]");
  EXPECT_EQ(printed(Tensor::of<double>(
                DType::f16, {10},
                {0.6104, 0.922, 0.457, 0.0906, 0.3733, 0.007244, 0.5933, 0.947, 0.2383, 0.4226})),
            "[0.6104   0.922    0.457    0.0906   0.3733   0.007244 0.5933   0.947\n"
            " 0.2383   0.4226  ]");
  EXPECT_EQ(printed(Tensor::of<double>(DType::bf16, {2}, {0.1, 3})), "[0.1 3. ]");
}

TEST(TensorPrint, AlignsIntegersAndBooleansAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor({-2, 0, 3})), "[-2  0  3]");
  EXPECT_EQ(printed(Tensor({{10, -1, 1, 1}, {10, 10, 10, 10}})), "[[10 -1  1  1]\n [10 10 10 10]]");
  EXPECT_EQ(printed(Tensor({true, false})), "[ True False]");
  EXPECT_EQ(printed(Tensor({true})), "[ True]");
  EXPECT_EQ(printed(Tensor({uint8_t{7}, uint8_t{65}})), "[ 7 65]");
}

TEST(TensorPrint, ShowsTheEdgesOfLargeTensors) {
  EXPECT_EQ(printed(count_up(1001, {1001})), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(printed(count_up(1002, {2, 501})),
            "[[   0    1    2 ...  498  499  500]\n [ 501  502  503 ...  999 1000 1001]]");
  const std::string columns = printed(count_up(1002, {501, 2}));
  EXPECT_EQ(columns,
            "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [ 996  997]\n [ 998  999]\n "
            "[1000 1001]]");
}

TEST(TensorPrint, SeparatesBlocksByEmptyLines) {
  EXPECT_EQ(printed(count_up(8, {2, 2, 2})), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
}

TEST(TensorPrint, WritesScalarsAsNumPyDoes) {
  EXPECT_EQ(printed(Tensor::scalar(DType::f64, 1)), "1.0");
  EXPECT_EQ(printed(Tensor::scalar(DType::f64, 1e16)), "1e+16");
  EXPECT_EQ(printed(Tensor::scalar(DType::f64, 1e-5)), "1e-05");
  EXPECT_EQ(printed(Tensor::scalar(DType::f32, -0.25)), "-0.25");
  EXPECT_EQ(printed(Tensor::scalar(DType::boolean, 1)), "True");
  EXPECT_EQ(printed(Tensor::scalar(DType::i32, 1)), "1");
}

}  // namespace
}  // namespace keratin
