#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// One file each; commands.cpp puts them in order.
Command summary_command();
Command inspect_command();
Command plot_command();
Command predict_command();
Command evaluate_command();
Command train_command();
Command convert_command();
Command diff_command();
Command verify_command();
Command bench_command();
Command completion_command();
Command manual_command();

}  // namespace keratin::cli
