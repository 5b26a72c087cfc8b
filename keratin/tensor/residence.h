#pragma once

#include <memory>

namespace keratin {

// A copy of host memory on a device, which a program may have made newer than the memory itself.
class Residence {
 public:
  virtual ~Residence() = default;
  // Makes the host's bytes the newest, and takes them for changed: whoever asks may write.
  virtual void bring_home() = 0;
};

// The one copy of this memory that is known; nullptr where there is none.
std::shared_ptr<Residence> find_residence(const void* host);
// Makes a copy known as long as it lives. It keeps the memory alive, so the address stays its own.
void add_residence(const void* host, const std::shared_ptr<Residence>& residence);
void remove_residence(const void* host);

// To be called before the host looks at memory that programs update elsewhere.
void bring_home(const void* host);

}  // namespace keratin
