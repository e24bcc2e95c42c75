#include "common/snapshot/ignore/repository.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kGitFile = "gitdir:";  // the file of a worktree or a submodule
constexpr Bytes kMostGitFile = kibibytes(8);      // the file holds a path

std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

std::string in(const std::string& folder, std::string_view name) {
  return folder + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Reads a small file with one line that names a folder; the name may be relative to `from`.
std::string folder_named_in(const std::string& file, std::string_view lead,
                            const std::string& from) {
  const auto text = io::read_regular_file(file, kMostGitFile);
  if (!text || !text->starts_with(lead)) return "";
  std::string line = text->substr(lead.size(), text->find('\n') - lead.size());
  line.erase(0, line.find_first_not_of(" \t"));
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line.empty() || line[0] == '/' ? line : in(from, line);
}

struct GitFolders {
  std::string own;     // the folder with the index; for a worktree it is not the common one
  std::string common;  // the folder with info/exclude and the configuration
};

// The folders of git below `folder`; nullopt: it is not the root of a repository.
std::optional<GitFolders> git_folders_of(const std::string& folder) {
  const std::string git = in(folder, ".git");
  if (is_file(in(git, "HEAD"))) return GitFolders{git, git};
  const std::string elsewhere = folder_named_in(git, kGitFile, folder);
  if (elsewhere.empty() || !is_file(in(elsewhere, "HEAD"))) return std::nullopt;
  const std::string common = folder_named_in(in(elsewhere, "commondir"), "", elsewhere);
  return GitFolders{elsewhere, common.empty() ? elsewhere : common};
}

// The length of ids, from the value that `git init --object-format` writes.
std::size_t id_bytes_of(const std::string& git) {
  std::string text =
      io::read_regular_file(in(git, "config"), Bytes{kMaxIgnoreFileBytes}).value_or("");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = text.find("objectformat");
  if (at == text.npos) return kSha1Bytes;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  return line.find("sha256") == line.npos ? kSha1Bytes : kSha256Bytes;
}

// Whether the owner's rules may exclude files: only ours, root's, and the folder's owner's, who
// could also write an ignore file into the folder.
bool is_trusted(const std::string& root, const struct stat& folder) {
  struct stat git {};
  if (::lstat(in(root, ".git").c_str(), &git) != 0) return false;
  return git.st_uid == 0 || git.st_uid == ::geteuid() || git.st_uid == folder.st_uid;
}

class Reader {
 public:
  Reader(std::string folder, Repository& out) : folder_(std::move(folder)), out_(out) {}

  void read(const std::string& root, const GitFolders& folders) {
    const std::string& git = folders.common;
    const std::string inside =
        folder_.substr(std::min(root == "/" ? 1 : root.size() + 1, folder_.size()));
    out_.below = inside.empty() ? "" : inside + "/";
    const auto levels =
        static_cast<std::size_t>(std::count(out_.below.begin(), out_.below.end(), '/'));
    add(in(git, "info"), "exclude",
        git == in(root, ".git") ? up(levels) + ".git/info/exclude" : in(git, "info/exclude"), "");
    std::string base;
    for (std::size_t level = 0; level < levels; ++level) {
      add(base.empty() ? root : in(root, base.substr(0, base.size() - 1)), ".gitignore",
          up(levels - level) + ".gitignore", base);
      base = out_.below.substr(0, out_.below.find('/', base.size()) + 1);
    }
    out_.tracked = TrackedFiles(in(folders.own, "index"), id_bytes_of(git), out_.below);
  }

 private:
  static std::string up(std::size_t levels) {
    std::string path;
    for (std::size_t i = 0; i < levels; ++i) path += "../";
    return path;
  }

  void add(const std::string& from, const std::string& name, const std::string& shown,
           const std::string& base) {
    const io::Fd opened(::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return;
    const auto content = read_ignore_file(opened.get(), name, shown);
    if (!content && content.error().code != ErrorCode::not_found)
      out_.notes.push_back(fmt::format("{}; its patterns are not used", content.error().message));
    if (content && *content) out_.files.emplace_back(shown, base, **content);
  }

  const std::string folder_;
  Repository& out_;
};

}  // namespace

Result<std::optional<std::string>> read_ignore_file(int folder, const std::string& name,
                                                    const std::string& shown) {
  const auto cannot = [&](std::string_view what) {
    const int errnum = errno;
    Error error = errno_error(errnum, fmt::format("cannot {} {}", what, quoted_name(shown)));
    if (errnum == ENOENT) error.code = ErrorCode::not_found;
    if (errnum == EACCES || errnum == EPERM) error.code = ErrorCode::permission_denied;
    return error;
  };
  const io::Fd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ELOOP) return std::optional<std::string>();
  if (!file) return cannot("read");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return cannot("stat");
  if (!S_ISREG(info.st_mode)) return std::optional<std::string>();
  std::string content;
  char buffer[65536];
  for (ssize_t got = 1; got != 0;) {
    got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno != EINTR) return cannot("read");
    if (got > 0) content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > kMaxIgnoreFileBytes)
      return make_error(
          ErrorCode::resource_exhausted,
          fmt::format("{} has more than {} bytes", quoted_name(shown), kMaxIgnoreFileBytes));
  }
  return std::optional(std::move(content));
}

Repository::Match Repository::of_itself() const {
  for (auto slash = below.find('/'); slash != below.npos; slash = below.find('/', slash + 1)) {
    const std::string path = below.substr(0, slash);
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      if (!file->is_above(path)) continue;
      const IgnorePattern* pattern = file->match(path, true);
      if (pattern == nullptr) continue;
      if (!pattern->negative) return {&*file, pattern};
      break;
    }
  }
  return {};
}

std::optional<Repository> find_repository(const std::string& folder) {
  struct stat start {};
  if (::stat(folder.c_str(), &start) != 0) return std::nullopt;
  for (std::string at = folder;; at = parent_of(at)) {
    struct stat info {};
    if (::stat(at.c_str(), &info) != 0 || info.st_dev != start.st_dev) return std::nullopt;
    if (const auto git = git_folders_of(at)) {
      Repository found;
      if (is_trusted(at, start))
        Reader(folder, found).read(at, *git);
      else
        found.notes.push_back(
            fmt::format("{} belongs to another user, so the ignore files above {} are not used",
                        quoted_name(in(at, ".git")), quoted_name(folder)));
      return found;
    }
    if (at == "/") return std::nullopt;
  }
}

}  // namespace lockstep::snapshot
