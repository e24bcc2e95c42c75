#include "launcher/cli/transfer/fetched_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <future>
#include <vector>

#include "common/base/trimmed.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/io/programs/run_program.h"

namespace lockstep::cli {
namespace {

constexpr Duration kMostTime = std::chrono::hours(24);
constexpr std::time_t kOldSeconds = 2 * 24 * 60 * 60;
constexpr int kCouldNotWrite = 23;  // the exit code in curl(1), EXIT CODES

Bytes size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? Bytes{static_cast<std::uint64_t>(info.st_size)}
                                          : Bytes{};
}

// The arguments for curl, without the address, because it may have a password, and everybody on the
// machine can read arguments in /proc. curl gets it as a line of configuration on standard input.
std::vector<std::string> curl_words(const std::string& file) {
  return {"curl", "--fail", "--silent", "--show-error", "--location", "--max-redirs", "10",
          // A redirect must not lead to files of this machine.
          "--proto", "=http,https", "--proto-redir", "=http,https", "--connect-timeout", "20",
          "--speed-limit", "1", "--speed-time", "60", "--retry", "3", "--globoff", "--output", file,
          "--config", "-"};
}

// Writes a quoted value of curl(1), --config, where a backslash begins an escape.
std::string curl_config(const std::string& url) {
  std::string quoted;
  for (const char c : url) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "url = \"" + quoted + "\"\n";
}

// Removes files of killed processes.
void remove_old(const std::string& below) {
  const auto names = io::list_directory(below);
  if (!names) return;
  const std::time_t now = std::time(nullptr);
  for (const std::string& name : *names) {
    const std::string path = below + "/" + name;
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0 && info.st_mtime + kOldSeconds < now)
      (void)io::remove_tree(path);
  }
}

}  // namespace

Result<FetchedFile> FetchedFile::fetch(const std::string& url, const std::string& file_name,
                                       const std::string& below, const OnProgress& progress) {
  if (url.find_first_of("\r\n") != std::string::npos)
    return make_error(ErrorCode::invalid_argument, "an address is one line of text");
  TRY(io::make_directories(below, 0700));
  remove_old(below);
  FetchedFile fetched(fmt::format("{}/{:016x}", below, io::random_u64()));
  TRY(io::make_directories(fetched.folder_, 0700));
  const std::string path = fetched.folder_ + "/" + file_name;
  TRY_ASSIGN(const io::Fd config, io::memory_file(curl_config(url)));
  io::ProgramOptions options{kMostTime};
  options.input = config.get();
  options.dies_with_us = true;
  auto running =
      std::async(std::launch::async, [&] { return io::run_program(curl_words(path), options); });
  while (running.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready)
    progress(size_of(path));
  const auto done = running.get();
  if (!done && done.error().code == ErrorCode::not_found)
    return make_error(
        ErrorCode::unavailable,
        "curl is not installed; install it, or download the file yourself and name it");
  if (!done) return done.error();
  if (done->exit_code == 0) return fetched;
  const std::string words(trimmed(done->errors));
  return make_error(
      done->exit_code == kCouldNotWrite ? ErrorCode::resource_exhausted : ErrorCode::unavailable,
      words.empty() ? fmt::format("curl exited with {}", done->exit_code) : words);
}

FetchedFile::~FetchedFile() {
  if (!folder_.empty()) (void)io::remove_tree(folder_);
}

}  // namespace lockstep::cli
