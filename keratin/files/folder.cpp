#include "keratin/files/folder.h"
#include "keratin/base/text.h"

namespace keratin::files {

FileView map_in_folder(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path = folder / name;
  std::error_code error;
  const std::filesystem::path place = std::filesystem::canonical(path, error);
  if (!error) {
    const std::filesystem::path home = std::filesystem::canonical(folder.empty() ? "." : folder);
    require(place.parent_path() == home, path.string(),
            ": it is a link out of its folder, which is not followed");
  }
  return map_file(path);  // which says what is wrong when it is not there
}

}  // namespace keratin::files
