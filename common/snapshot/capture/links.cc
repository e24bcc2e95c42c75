#include "common/snapshot/capture/links.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace lockstep::snapshot {
namespace {

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> all;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    if (slash > 0 && path.substr(0, slash) != ".") all.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return all;
}

// "" if it cannot be resolved; errno holds the reason.
std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) == nullptr ? "" : resolved;
}

bool is_or_is_below(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  if (path == folder || folder == "/") return true;
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// A target read as text, from a folder below a top.
struct Text {
  std::string path;         // path below the top; meaningless if `escapes`
  bool escapes = false;     // the target is absolute, or leads out of the top
  bool turns_back = false;  // a ".." after a name, which may be a symlink
};

Text read_target(const std::string& below, const std::string& target) {
  Text text;
  text.escapes = target.starts_with('/');
  std::vector<std::string_view> at = components(below);
  bool has_name = false;
  for (const std::string_view one : components(target)) {
    if (one != "..") {
      at.push_back(one);
      has_name = true;
      continue;
    }
    text.turns_back = text.turns_back || has_name;
    if (at.empty()) {
      text.escapes = true;
      break;
    }
    at.pop_back();
  }
  text.path = fmt::format("{}", fmt::join(at, "/"));
  return text;
}

// The relative path from the folder `from` of the tree to the entry `to`.
std::string relative(const std::string& from, const std::string& to) {
  const auto folders = components(from), names = components(to);
  std::size_t common = 0;
  while (common < folders.size() && common < names.size() && folders[common] == names[common])
    ++common;
  std::vector<std::string_view> words(folders.size() - common, "..");
  words.insert(words.end(), names.begin() + static_cast<std::ptrdiff_t>(common), names.end());
  return words.empty() ? "." : fmt::format("{}", fmt::join(words, "/"));
}

std::string joined(const std::string& folder, const std::string& below) {
  return folder + (folder.ends_with('/') ? "" : "/") + below;
}

// The first name of the path after `folder`; "" if the path is not below `folder`.
std::string first_below(const std::string& path, const std::string& folder) {
  if (path == folder || !is_or_is_below(path, folder)) return "";
  const std::size_t begin = folder == "/" ? 1 : folder.size() + 1;
  return path.substr(begin, path.find('/', begin) - begin);
}

}  // namespace

bool holds_keys(std::string_view name) {
  constexpr std::array<std::string_view, 7> kKeys{".ssh",   ".gnupg", ".aws",   ".azure",
                                                  ".netrc", ".kube",  ".pgpass"};
  return std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end();
}

LinkRules::LinkRules(const std::string& root, const std::string& own_files, const std::string& home)
    : own_files_(own_files.empty() ? "" : real_path(own_files)),
      home_(home.empty() ? "" : real_path(home)) {
  tops_.push_back({"", root});
}

// Why a link is not followed: its target is too much, or is something that people do not mean to
// send to a cluster.
std::string LinkRules::why_not(const std::string& real) const {
  for (const Top& top : tops_)
    if (is_or_is_below(top.real, real))
      return top.tree.empty() ? "it contains the folder itself" : "it contains the link itself";
  if (is_or_is_below(home_, real)) return "it is, or contains, your home directory";
  if (is_or_is_below(real, own_files_)) return "Lockstep's own files and keys are there";
  const auto names = components(real);
  if (std::any_of(names.begin(), names.end(), holds_keys)) return "keys are kept there";
  // Programs keep settings and keys in hidden folders of the home. ~/.cache holds only data.
  const std::string hidden = first_below(real, home_);
  if (hidden.starts_with('.') && hidden != ".cache" &&
      hidden != first_below(tops_.front().real, home_))
    return "it is in a hidden folder of your home directory";
  for (const char* system : {"/proc", "/sys"})
    if (is_or_is_below(real, system)) return "it lies in /proc or /sys";
  return "";
}

LinkAction LinkRules::judge(const std::string& folder, const std::string& name,
                            const std::string& target) const {
  using What = LinkAction::What;
  const Top& top = tops_.back();
  const std::string below = folder.substr(top.tree.size());
  const Text text = read_target(below, target);
  if (!text.escapes && !text.turns_back) return {};
  const std::string real = real_path(joined(top.real, below + name));
  if (real.empty() && !text.escapes) return {};
  if (real.empty())
    return {What::keep, "",
            errno == ENOENT ? "it leads nowhere" : std::generic_category().message(errno)};
  if (!text.escapes && real == real_path(joined(top.real, text.path))) return {};
  for (auto at = tops_.rbegin(); at != tops_.rend(); ++at)
    if (is_or_is_below(real, at->real)) {
      const std::size_t cut = at->real == "/" ? 1 : std::min(at->real.size() + 1, real.size());
      return {What::rewrite, relative(folder, at->tree + real.substr(cut)), ""};
    }
  if (is_or_is_below(real, "/dev") && !is_or_is_below(real, "/dev/shm")) return {};
  if (std::string why = why_not(real); !why.empty()) return {What::keep, "", std::move(why)};
  struct stat info {};
  if (::stat(real.c_str(), &info) != 0)
    return {What::keep, "", std::generic_category().message(errno)};
  const int needed = S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK;
  if (::faccessat(AT_FDCWD, real.c_str(), needed, AT_EACCESS) != 0)
    return {What::keep, "", "it may not be read"};
  if (S_ISDIR(info.st_mode)) return {What::folder, real, ""};
  if (S_ISREG(info.st_mode)) return {What::file, real, ""};
  return {What::keep, "", "it is neither a file nor a folder"};
}

}  // namespace lockstep::snapshot
