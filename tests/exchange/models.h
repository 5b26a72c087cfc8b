#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/model/model.h"

namespace keratin {

// Models that real Keras must be able to open and to run. Another one is a line in models.cpp.
struct ExchangeModel {
  std::string name;
  std::function<Model()> make;
  bool trained = false;  // it comes compiled: it is saved half trained, and training must go on
};

std::vector<ExchangeModel> exchange_models();

}  // namespace keratin
