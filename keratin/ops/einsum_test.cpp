#include "keratin/ops/einsum.h"

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counting;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

TEST(Einsum, Products) {
  const std::pair<const char*, std::vector<Shape>> cases[] = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}},
      {"ij,kj->ik", {{2, 3}, {4, 3}}},
      {"ji,jk->ki", {{3, 2}, {3, 4}}},
      {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 3}}},
      {"bij,bkj->bik", {{2, 3, 4}, {2, 5, 4}}},
      {"bqhd,bkhd->bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
      {"bhqk,bkhd->bqhd", {{2, 2, 3, 5}, {2, 5, 2, 4}}},
      {"abc,cd->abd", {{2, 3, 4}, {4, 5}}},
      {"abc,bcd->ad", {{2, 3, 4}, {3, 4, 5}}},
      {"i,j->ij", {{3}, {4}}},
      {"i,i->", {{5}, {5}}},
      {"i,i->i", {{5}, {5}}},
      {"ij,j->ji", {{2, 3}, {3}}},
      {"ij,->ij", {{2, 3}, {}}},
      {"ij,ki->k", {{2, 3}, {4, 2}}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
      {"ij,jk,ki->", {{2, 3}, {3, 4}, {4, 2}}},
      {"a,b,c,d->dbca", {{2}, {3}, {2}, {2}}},
      {"ij,jk", {{2, 3}, {3, 4}}},
      {"ij , jk -> k i", {{2, 3}, {3, 4}}},
  };
  for (const auto& [equation, shapes] : cases) {
    Types inputs;
    for (const Shape& shape : shapes) inputs.push_back({f32, shape});
    check_op({.name = equation,
              .inputs = inputs,
              .build = [e = equation](const Values& in) { return Values{einsum(e, in)}; },
              .second_order = shapes.size() == 2});
  }
}

TEST(Einsum, OneOperand) {
  for (const char* equation : {"ijk->kij", "ijk->", "ijk->j", "ijk->ki", "kji", "ijk->ijk"})
    check_op({.name = equation, .inputs = {{f32, {2, 3, 4}}}, .build = [=](const Values& in) {
                return Values{einsum(equation, in)};
              }});
  for (const char* equation : {"ii", "ii->i", "ii->"})
    check_op({.name = equation, .inputs = {{f32, {3, 3}}}, .build = [=](const Values& in) {
                return Values{einsum(equation, in)};
              }});
  check_op({.name = "diagonals", .inputs = {{f32, {2, 3, 2, 2, 3}}}, .build = [](const Values& in) {
              return Values{einsum("abaab->ba", in), einsum("acaad->dc", in)};
            }});
}

TEST(Einsum, Dots) {
  const std::pair<const char*, std::vector<Shape>> cases[] = {
      {"...j->...", {{2, 3, 4}}},
      {"...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}}},
      {"...ij,jk->...ki", {{5, 2, 3, 4}, {4, 5}}},
      {"...i,...i->...", {{3, 1, 4}, {2, 4}}},  // [3,1] against [2]
      {"...i,...i", {{1, 1, 4}, {1, 4}}},
      {"i...,i...->...i", {{2, 3}, {2, 1}}},
      {"...ij,ij->...", {{2, 3}, {2, 3}}},  // no axes at all
  };
  for (const auto& [equation, shapes] : cases) {
    Types inputs;
    for (const Shape& shape : shapes) inputs.push_back({f32, shape});
    check_op({.name = equation, .inputs = inputs, .build = [e = equation](const Values& in) {
                return Values{einsum(e, in)};
              }});
  }
}

TEST(Einsum, SizesAndDTypes) {
  const auto build = [](const Values& in) { return Values{einsum("bij,jk->bki", in)}; };
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{
           {{0, 2, 3}, {3, 4}}, {{2, 3, 0}, {0, 2}}, {{1, 1, 1}, {1, 1}}})
    check_op({.name = text("einsum ", a, b), .inputs = {{f32, a}, {f32, b}}, .build = build});
  for (DType dtype : all_dtypes)
    if (dtype != DType::boolean)
      check_op({.name = text("einsum ", dtype),
                .inputs = {{dtype, {2, 3, 4}}, {dtype, {4, 5}}},
                .build = build,
                .gradient = false});
}

TEST(Einsum, ValuesOfNumPy) {
  const Tensor a = counting(f64, {2, 3}), b = counting(f64, {3, 4}), c = counting(f64, {4, 2});
  const auto of = [](const Shape& shape, const std::vector<double>& values) {
    return Tensor::of(f64, shape, values);
  };
  expect_values(
      [](const Values& in) {
        return Values{einsum("ij,jk,ki->", in), einsum("ij,jk,ki->ik", in), einsum("ba", {in[0]}),
                      einsum("...j->...", {in[0]})};
      },
      {a, b, c},
      {Tensor::scalar(f64, 1628), of({2, 4}, {0, 46, 104, 174, 56, 204, 400, 644}),
       of({3, 2}, {0, 3, 1, 4, 2, 5}), of({2}, {3, 12})});
  expect_values(
      [](const Values& in) {
        return Values{einsum("ii", {in[0]}), einsum("ii->i", {in[0]}), einsum("iij->j", {in[1]}),
                      einsum("bij,bkj->bik", {in[2], in[2]})};
      },
      {counting(f64, {3, 3}), counting(f64, {2, 2, 2}), counting(f64, {2, 3, 2})},
      {Tensor::scalar(f64, 12), of({3}, {0, 4, 8}), of({2}, {6, 8}),
       of({2, 3, 3}, {1, 3, 5, 3, 13, 23, 5, 23, 41, 85, 111, 137, 111, 145, 179, 137, 179, 221})});
}

TEST(Einsum, OfUnknownSizes) {
  Module m;
  const Value a = m.input({f32, {unknown, 3, unknown}}), b = m.input({f32, {4, unknown}});
  EXPECT_EQ(text(einsum("bij,jk->bik", {a, b}).shape()), "[?,3,?]");
  EXPECT_EQ(text(einsum("bij,jk->kji", {a, b}).shape()), "[?,4,3]");
  EXPECT_EQ(text(einsum("...j,jk->...k", {a, b}).shape()), "[?,3,?]");
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), y = m.input({f32, {4, 5}}), i = m.input({i32, {3, 2}});
  const Value b = m.input({DType::boolean, {2, 3}});
  const auto refuse = [](const std::string& equation, const Values& in,
                         std::initializer_list<std::string> parts) {
    expect_user_error([&] { einsum(equation, in); }, parts);
  };
  refuse("ij,jk->ik", {x, y}, {"einsum", "'ij,jk->ik'", "'j'", "3 and 4"});
  refuse("ij,jk->ik", {x}, {"einsum", "2 operands", "got 1"});
  refuse("ijk->i", {x}, {"einsum", "'ijk'", "operand 0", "[2,3]"});
  refuse("i->i", {x}, {"einsum", "'i'", "[2,3]"});
  refuse("...ijk->", {x}, {"einsum", "'...ijk'", "[2,3]"});
  refuse("ij->k", {x}, {"einsum", "'k'"});
  refuse("ij->ii", {x}, {"einsum", "once", "'i'"});
  refuse("i1->i", {x}, {"einsum", "'i1'", "letters"});
  refuse("i.j->i", {x}, {"einsum", "'i.j'", "letters"});
  refuse("......->", {x}, {"einsum", "letters"});
  refuse("ij->i->", {x}, {"einsum", "letters"});
  refuse("...j->", {x}, {"einsum", "'...'"});
  refuse("...j,...j->...", {x, m.input({f32, {7, 3}})}, {"einsum", "broadcast"});
  refuse("ij,jk->ik", {x, i}, {"einsum", "one dtype", "f32[2,3]", "i32[3,2]"});
  refuse("ij->i", {b}, {"einsum", "numbers", "bool[2,3]"});
  refuse("ii->i", {x}, {"einsum", "'i'", "2 and 3"});
  refuse("->", {}, {"einsum", "at least one"});
}

}  // namespace
}  // namespace keratin::ops
