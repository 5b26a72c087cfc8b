#include "keratin/backend/cuda/collective/peers.h"

namespace keratin::cuda {

void connect(const Driver& driver, const std::vector<Peer>& gpus) {
  for (const Peer& from : gpus)
    for (const Peer& to : gpus) {
      int possible = 0;
      if (from.device == to.device ||
          driver.can_access_peer(&possible, from.device, to.device) != 0 || possible == 0 ||
          driver.set_context(from.context) != 0)
        continue;
      driver.enable_peer_access(to.context, 0);  // a failure changes nothing
    }
}

}  // namespace keratin::cuda
