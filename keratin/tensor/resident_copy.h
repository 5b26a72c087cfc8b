#pragma once

#include <memory>

namespace keratin {

// A copy of host memory that is resident on a device: its bytes may be newer than the host's.
class ResidentCopy {
 public:
  virtual ~ResidentCopy() = default;
  // Copies newer bytes to the host. The caller may write to the host's bytes afterwards.
  virtual void copy_to_host() = 0;
};

// The resident copy of this memory; nullptr if there is none. There is at most one.
std::shared_ptr<ResidentCopy> find_resident_copy(const void* host);
// Registers a copy until it is destroyed. The copy keeps the host's memory alive, so the address is
// not reused.
void add_resident_copy(const void* host, const std::shared_ptr<ResidentCopy>& copy);
void remove_resident_copy(const void* host);

// To be called before the host reads or writes memory that programs update elsewhere.
void copy_to_host(const void* host);

}  // namespace keratin
