#include "keratin/graph/tree.h"

#include "keratin/graph/call.h"
#include "keratin/graph/symbolic.h"

namespace keratin {

template class Tree<Tensor>;
template class Tree<size_t>;
template class Tree<SymbolicTensor>;
template class Tree<Value>;
template class Tree<Traced>;

}  // namespace keratin
