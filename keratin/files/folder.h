#pragma once

#include "keratin/files/mapped_file.h"

namespace keratin::files {

// Maps a file of a folder, by its name. A symbolic link to a file outside the folder is refused:
// a folder from a stranger could link to any file of this machine.
FileView map_in_folder(const std::filesystem::path& folder, const std::string& name);

}  // namespace keratin::files
