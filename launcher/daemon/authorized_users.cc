#include "launcher/daemon/authorized_users.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <sstream>

#include "common/io/file_system.h"

namespace lockstep::launcher {

std::optional<std::string> AuthorizedUsers::name_of(const PublicKey& key) {
  reload_if_changed();
  const auto it = names_.find(key);
  if (it == names_.end()) return std::nullopt;
  return it->second;
}

void AuthorizedUsers::reload_if_changed() {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) {
    names_.clear();
    version_ = {};
    return;
  }
  const Version now{info.st_ino, info.st_size,
                    info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, info.st_mode};
  if (now == version_) return;
  if ((info.st_mode & S_IWOTH) != 0) {  // as sshd with StrictModes
    spdlog::error(
        "{} may be changed by everybody (mode {:04o}): nobody is let in by it; chmod go-w it",
        path_, info.st_mode & 07777);
    version_ = now;
    names_.clear();
    return;
  }
  const auto text = io::read_file(path_, mebibytes(16));
  if (!text) {
    spdlog::error("authorised users stay as they were: {}", text.error().message);
    return;
  }
  version_ = now;
  names_.clear();
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string name, key, more;
    if (!(words >> name) || name[0] == '#') continue;
    if (!(words >> key) || key.size() != 40 || words >> more) {
      spdlog::error("{}:{}: is not \"NAME PUBLICKEY\" with a key of 40 characters; skipped", path_,
                    number);
      continue;
    }
    names_[PublicKey(key)] = name;
  }
}

}  // namespace lockstep::launcher
