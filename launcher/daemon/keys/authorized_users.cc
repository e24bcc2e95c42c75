#include "launcher/daemon/keys/authorized_users.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/grammar/key_word.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

// Logs the lines that are skipped. `path` is for the log.
std::vector<KeysFile::Line> read_lines(const std::string& path, const std::string& text) {
  std::vector<KeysFile::Line> all;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string name, key, more;
    if (!(words >> name) || name[0] == '#') continue;
    const bool has_two = (words >> key) && !(words >> more);
    const auto public_key = key_from_word(key);
    if (!has_two || !public_key) {
      spdlog::error(
          "{}:{}: skipped this line: it must be \"NAME PUBLICKEY\", with a key as `lockstep user "
          "key show` prints it",
          path, number);
      continue;
    }
    all.push_back({name, *public_key});
  }
  return all;
}

}  // namespace

std::optional<std::vector<KeysFile::Line>> AuthorizedUsers::look() {
  reload_if_changed();
  if (!std::exchange(is_new_, false)) return std::nullopt;
  return lines_;
}

bool AuthorizedUsers::lists(const PublicKey& key) {
  if (std::chrono::steady_clock::now() - looked_ >= kKeysFileHolds) reload_if_changed();
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const KeysFile::Line& line) { return line.key == key; });
}

void AuthorizedUsers::reload_if_changed() {
  looked_ = std::chrono::steady_clock::now();
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) {
    is_new_ = is_new_ || !lines_.empty();
    lines_.clear();
    version_ = {};
    return;
  }
  const Version now{info.st_ino, info.st_size,
                    info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, info.st_mode};
  if (now == version_) return;
  if ((info.st_mode & S_IWOTH) != 0) {  // like sshd's StrictModes
    spdlog::error("{} is world-writable (mode {:04o}); ignoring it: chmod go-w it", path_,
                  info.st_mode & 07777);
    version_ = now;
    lines_.clear();
    is_new_ = true;
    return;
  }
  const auto text = io::read_file(path_, mebibytes(16));
  if (!text) {
    spdlog::error("authorised users stay as they were: {}", text.error().message);
    return;
  }
  version_ = now;
  is_new_ = true;
  lines_ = read_lines(path_, *text);
}

}  // namespace lockstep::launcher
