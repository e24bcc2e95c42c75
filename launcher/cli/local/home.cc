#include "launcher/cli/local/home.h"

#include <cstdlib>
#include <filesystem>

#include "common/io/process.h"

namespace lockstep::cli {

LocalHome LocalHome::from_environment() {
  std::string path;
  if (const char* chosen = std::getenv("LOCKSTEP_HOME"); chosen != nullptr && *chosen != '\0') {
    path = chosen;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    path = std::string(home) + "/.lockstep";
  } else {
    const auto user = io::current_user();
    path = (user ? user->home : "") + "/.lockstep";
  }
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure).lexically_normal();
  std::string text = failure ? path : absolute.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return LocalHome(text);
}

}  // namespace lockstep::cli
