#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// One file each; commands.cpp puts them in order.
Command summary_command();
Command inspect_command();
Command completion_command();
Command manual_command();

}  // namespace keratin::cli
