#include "launcher/daemon/remotes/rclone.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/cut.h"
#include "common/base/trimmed.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/programs/child_program.h"
#include "common/io/programs/run_program.h"

namespace lockstep::launcher {
namespace {

constexpr int kNoFolder = 3, kNoFile = 4;  // exit codes in rclone(1)
constexpr std::size_t kMaxListingBytes = 512u << 20;
constexpr std::size_t kMaxErrorBytes = 300;

struct Ran {
  int exit_code = 0;
  std::string output;
  std::string error;  // the last message other than progress
};

Result<std::string> find_rclone(const RcloneContext& context) {
  const char* ours = std::getenv("PATH");
  std::string_view path = !context.path.empty() ? std::string_view(context.path)
                          : ours != nullptr     ? ours
                                                : "/usr/local/bin:/usr/bin:/bin";
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    const std::string program = std::string(folder) + "/rclone";
    if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return make_error(ErrorCode::unavailable,
                    "rclone is not installed on the launcher's machine: apt install rclone");
}

// The file holds credentials and decides where the launcher connects to, so its rights are checked.
Status check_config(const std::string& config) {
  struct stat info {};
  if (::stat(config.c_str(), &info) != 0)
    return make_error(ErrorCode::unavailable,
                      "rclone's configuration file of this datastore cannot be read by the "
                      "launcher; its operator must repair that");
  const bool is_private = (info.st_mode & 077) == 0;
  const bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (is_private && is_ours) return {};
  return make_error(ErrorCode::permission_denied,
                    "rclone's configuration file of this datastore is open to other accounts, so "
                    "it is not used; its operator must chmod 600 it");
}

// A running rclone: its output, and when it last made progress.
class Run {
 public:
  Run(io::ChildProgram program, const RcloneContext& context,
      const std::function<void(std::uint64_t)>& progress)
      : program_(std::move(program)), context_(context), progress_(progress) {}

  Result<Ran> to_end() {
    io::SystemClock clock;
    Instant last = clock.now();
    for (;;) {
      pollfd fds[] = {{open_[0] ? program_.output() : -1, POLLIN, 0},
                      {open_[1] ? program_.errors() : -1, POLLIN, 0},
                      {program_.ended(), POLLIN, 0}};
      ::poll(fds, 3, 200);
      const bool listed = read(0, program_.output());
      const bool copied = read(1, program_.errors());
      const Instant now = clock.now();
      if (listed || copied) last = now;
      if (ran_.output.size() > kMaxListingBytes)
        return make_error(ErrorCode::resource_exhausted,
                          "there are too many files; name a smaller folder");
      if (context_.stop != nullptr && *context_.stop)
        return make_error(ErrorCode::unavailable, "the launcher is ending");
      if (now - last > context_.silence)
        return make_error(ErrorCode::unavailable, fmt::format("the server sent nothing for {}",
                                                              format_duration(context_.silence)));
      if (const auto end = program_.reap()) return ended(*end);
    }
  }

 private:
  // Returns whether the output shows progress.
  bool read(int which, int fd) {
    bool moved = false;
    char buffer[16 << 10];
    while (open_[which]) {
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) break;
      if (got == 0) open_[which] = false;
      const std::string_view text(buffer, static_cast<std::size_t>(got));
      if (which == 0) {
        moved = moved || got > 0;
        ran_.output += text;
      } else {
        moved = take_errors(text) || moved;
      }
    }
    return moved;
  }
  bool take_errors(std::string_view text) {
    bool moved = false;
    line_ += text;
    for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      moved = take_line(line_.substr(0, end)) || moved;
      line_.erase(0, end + 1);
    }
    if (line_.size() > (1u << 20)) line_.clear();
    return moved;
  }
  // Lines are JSON (--use-json-log); a fatal error may be plain text after a time.
  bool take_line(const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
      constexpr std::size_t kTime = 20;  // the length of "2026/11/26 16:31:52 "
      const bool has_time = line.size() > kTime && line[4] == '/' && line[19] == ' ';
      ran_.error = has_time ? line.substr(kTime) : line;
      return false;
    }
    const auto stats = json.find("stats");
    if (stats == json.end() || !stats->is_object()) {
      if (json.contains("msg") && json["msg"].is_string()) {
        ran_.error = json["msg"].get<std::string>();
        if (json.contains("object") && json["object"].is_string())
          ran_.error = json["object"].get<std::string>() + ": " + ran_.error;
      }
      return false;
    }
    const auto number = [&](const char* key) -> std::uint64_t {
      const auto found = stats->find(key);
      return found != stats->end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    };
    const std::uint64_t bytes = number("bytes");
    const std::uint64_t sum = bytes + number("transfers") + number("checks");
    const bool moved = sum != seen_;
    seen_ = sum;
    if (progress_) progress_(bytes);
    return moved;
  }
  Result<Ran> ended(const io::ChildProgram::End& end) {
    read(0, program_.output());
    read(1, program_.errors());
    if (!line_.empty()) take_line(line_);
    ran_.exit_code = end.signal != 0 ? 128 + end.signal : end.exit_code;
    return std::move(ran_);
  }

  io::ChildProgram program_;
  const RcloneContext& context_;
  const std::function<void(std::uint64_t)>& progress_;
  bool open_[2] = {true, true};
  Ran ran_;
  std::string line_;
  std::uint64_t seen_ = 0;
};

Result<Ran> run_rclone(const RemoteFiles& files, const RcloneContext& context,
                       const std::vector<std::string>& words, int input,
                       const std::function<void(std::uint64_t)>& progress) {
  TRY_ASSIGN(const std::string program, find_rclone(context));
  TRY(check_config(files.config));
  const auto idle = std::max<std::int64_t>(1, context.silence.count() / 2'000'000'000);
  std::vector<std::string> all = {"/usr/bin/env",
                                  "-i",
                                  "PATH=/usr/local/bin:/usr/bin:/bin",
                                  "HOME=" + context.home,
                                  program,
                                  "--config",
                                  files.config,
                                  "--use-json-log",
                                  "--retries",
                                  "2",
                                  "--low-level-retries",
                                  "3",
                                  "--contimeout",
                                  fmt::format("{}s", std::min<std::int64_t>(idle, 20)),
                                  "--timeout",
                                  fmt::format("{}s", idle)};
  all.insert(all.end(), words.begin(), words.end());
  TRY_ASSIGN(io::ChildProgram child, io::ChildProgram::start(all, input));
  return Run(std::move(child), context, progress).to_end();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  if (what.empty()) return text;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// REMOTE:BASE/PATH in rclone's form. If BASE is "", the path follows the colon directly.
std::string address_of(const RemoteFiles& files) {
  if (files.path.empty()) return files.remote;
  return files.remote + (files.remote.ends_with(':') ? "" : "/") + files.path;
}

// The error of rclone for a user, without contents of the operator's files.
std::string words_of(const RemoteFiles& files, const Ran& ran) {
  std::string text = replaced(ran.error, address_of(files), files.shown);
  text = without_values(replaced(std::move(text), files.remote, "the datastore"), files.config);
  const auto colon = files.remote.find(':');
  const std::string base = files.remote.substr(colon + 1);
  if (base.size() >= 4) text = replaced(std::move(text), base, "***");
  text = std::string(trimmed(text));
  text = cut(std::move(text), kMaxErrorBytes);
  return text.empty() ? fmt::format("rclone exited with {}", ran.exit_code) : text;
}

Error failure(const RemoteFiles& files, const Ran& ran) {
  if (ran.exit_code == kNoFolder || ran.exit_code == kNoFile)
    return make_error(ErrorCode::not_found, "there is nothing at " + files.shown);
  return make_error(ErrorCode::unavailable, "it cannot be fetched: " + words_of(files, ran));
}

bool is_safe(const std::string& path) {
  if (path.empty() || path.size() > kMaxDatastorePathBytes) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
    begin = end + 1;
  }
  return std::none_of(path.begin(), path.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

std::string without_values(std::string text, const std::string& config) {
  // Keys whose values do not reveal where a remote is or how to log in.
  static const std::set<std::string> kPlain = {
      "type", "vendor", "provider", "env_auth", "location_constraint", "acl", "region"};
  const auto file = io::read_regular_file(config, mebibytes(1));
  if (!file) return "the launcher cannot read rclone's configuration file";
  std::vector<std::string> values;
  std::string_view rest = *file;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string value(trimmed(line.substr(equals + 1)));
    if (kPlain.count(key) != 0 || value.size() < 4 || value == "true" || value == "false") continue;
    values.push_back(value);
    const auto scheme = value.find("://");  // for a URL, its host, too
    if (scheme == std::string::npos) continue;
    std::string host = value.substr(scheme + 3);
    host = host.substr(0, host.find('/'));
    values.push_back(host.substr(host.rfind('@') + 1));
    values.push_back(values.back().substr(0, values.back().rfind(':')));
  }
  std::sort(values.begin(), values.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (const std::string& value : values)
    if (value.size() >= 4) text = replaced(std::move(text), value, "***");
  return text;
}

Result<Listing> read_listing(const std::string& json) {
  const auto listed = nlohmann::json::parse(json, nullptr, false);
  const auto corrupt = [](const std::string& why) {
    return make_error(ErrorCode::corrupt, "the server's listing cannot be used: " + why);
  };
  if (!listed.is_array()) return corrupt("rclone printed no list");
  Listing listing;
  for (const auto& entry : listed) {
    if (!entry.is_object() || !entry.contains("Path") || !entry["Path"].is_string())
      return corrupt("an entry has no path");
    if (entry.value("IsDir", false)) continue;
    RemoteFile file;
    file.path = entry["Path"].get<std::string>();
    if (!is_safe(file.path)) return corrupt("a file's name is not possible in a folder");
    const std::int64_t size = entry.value("Size", std::int64_t{-1});
    if (size < 0)
      // A document that is generated when it is read.
      return corrupt("the size of a file is unknown");
    file.size = static_cast<std::uint64_t>(size);
    file.version = entry.value("ModTime", std::string());
    if (entry.contains("Hashes")) file.version += entry["Hashes"].dump();
    listing.bytes += file.size;
    listing.files.push_back(std::move(file));
    if (listing.files.size() > kMaxRemoteFiles) return corrupt("it has too many files");
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const RemoteFile& a, const RemoteFile& b) { return a.path < b.path; });
  return listing;
}

Result<Listing> list_remote(const RemoteFiles& files, const RcloneContext& context) {
  const std::string address = address_of(files);
  bool is_file = false;
  if (!files.path.empty()) {
    TRY_ASSIGN(const Ran looked,
               run_rclone(files, context, {"lsjson", "--stat", "--", address}, -1, {}));
    if (looked.exit_code != 0) return failure(files, looked);
    const auto found = nlohmann::json::parse(looked.output, nullptr, false);
    if (!found.is_object()) return failure(files, {kNoFile, "", ""});
    is_file = !found.value("IsDir", false);
  }
  TRY_ASSIGN(const Ran listed,
             run_rclone(files, context, {"lsjson", "-R", "--hash", "--no-mimetype", "--", address},
                        -1, {}));
  if (listed.exit_code != 0) return failure(files, listed);
  TRY_ASSIGN(Listing listing, read_listing(listed.output));
  listing.is_file = is_file;
  if (is_file && listing.files.size() != 1)
    return make_error(ErrorCode::unavailable, "it changed while it was listed; submit again");
  if (listing.files.empty())
    return make_error(ErrorCode::not_found, "there are no files at " + files.shown);
  return listing;
}

Status copy_remote(const RemoteFiles& files, const Listing& listing, const std::string& to,
                   const RcloneContext& context,
                   const std::function<void(std::uint64_t)>& progress) {
  std::string names;
  for (const RemoteFile& file : listing.files) names += file.path + "\n";
  TRY_ASSIGN(const io::Fd list, io::memory_file(names));
  RemoteFiles from = files;
  if (listing.is_file)
    from.path.resize(
        from.path.find_last_of('/') == std::string::npos ? 0 : from.path.find_last_of('/'));
  // --files-from-raw: files outside of the checked listing are not copied, whatever the server
  // sends.
  TRY_ASSIGN(const Ran ran, run_rclone(files, context,
                                       {"copy", "--files-from-raw", "-", "--stats", "1s",
                                        "--stats-log-level", "NOTICE", "--transfers", "8",
                                        "--checkers", "16", "--", address_of(from), to},
                                       list.get(), progress));
  if (ran.exit_code != 0) return failure(files, ran);
  return {};
}

Status write_remote(const RemoteFiles& to, const std::string& from, bool is_file,
                    const RcloneContext& context) {
  // --ignore-times: on a server without times and hashes, a file of the same size would count as
  // unchanged.
  TRY_ASSIGN(Ran ran, run_rclone(to, context,
                                 {is_file ? "copyto" : "copy", "--ignore-times", "--stats", "1s",
                                  "--stats-log-level", "NOTICE", "--transfers", "8", "--checkers",
                                  "16", "--", from, address_of(to)},
                                 -1, {}));
  if (ran.exit_code == 0) return {};
  ran.error = replaced(ran.error, from, "the output");
  return make_error(ErrorCode::unavailable, "it cannot be written: " + words_of(to, ran));
}

}  // namespace lockstep::launcher
