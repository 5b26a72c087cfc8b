// A file that runs models and needs keratin/inference.h alone.
#include <keratin/inference.h>

keratin::Tensor predicted(const keratin::Model& model, const keratin::Tensor& x) {
  return model.predict(x, {.batch_size = 1});
}
keratin::Model opened(const char* path) { return keratin::load_model(path); }
