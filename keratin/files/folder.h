#pragma once

#include "keratin/files/mapped_file.h"

namespace keratin::files {

// A file that is to lie in a folder, by its name there. A link that leads elsewhere is refused: who
// made the folder could make it lead to any file of this machine.
FileView map_in_folder(const std::filesystem::path& folder, const std::string& name);

}  // namespace keratin::files
