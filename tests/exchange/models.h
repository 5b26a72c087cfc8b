#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/model/model.h"

namespace keratin {

// Models that Keras must be able to load and run. A new model is a line in models.cpp.
struct ExchangeModel {
  std::string name;
  std::function<Model()> make;
  bool trained = false;  // compiled and partly trained; training continues after loading
};

std::vector<ExchangeModel> exchange_models();

}  // namespace keratin
