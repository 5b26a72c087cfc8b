#include "keratin/files/folder.h"
#include "keratin/base/text.h"

namespace keratin::files {

FileView map_in_folder(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path = folder / name;
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (!error) {
    const std::filesystem::path parent = std::filesystem::canonical(folder.empty() ? "." : folder);
    // A name with "..", or in a folder that is a link, has another target.
    require(target.parent_path() == (parent / name).parent_path(), path.string(),
            ": expected a file inside its folder, got a link out of it, which is not followed");
  }
  return map_file(path);  // reports a missing file
}

}  // namespace keratin::files
