#pragma once

#include <cstddef>

namespace keratin {

// How much a cache of programs keeps. Their working memory does not count: the programs of a model
// share it.
struct CacheLimits {
  size_t entries = 1024;
  size_t bytes = size_t{128} << 20;
  size_t always = 4;  // the newest ones, which stay however large they are
};

}  // namespace keratin
