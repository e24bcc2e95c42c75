#include "launcher/compute/tools.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace lockstep::compute {

std::string find_on_path(const std::string& name, const std::string& path) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/') && ::access((folder + "/" + name).c_str(), X_OK) == 0)
      return folder + "/" + name;
  return "";
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> signs) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return lower.find(sign) != std::string::npos; });
}

}  // namespace lockstep::compute
