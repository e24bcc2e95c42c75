#include "launcher/cli/local/past_launcher.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/time.h"
#include "common/io/file_system.h"

namespace lockstep::cli {

namespace {

struct PastStart {  // the content of lockstepd's started.json
  bool by_lockstep = false;
  std::vector<std::string> command;
  std::string started, ended;
};

std::optional<PastStart> read_past_start(const std::string& path) {
  const auto text = io::read_file(path, mebibytes(1));
  if (!text) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(*text);
    PastStart past;
    past.by_lockstep = json.at("by_lockstep").get<bool>();
    past.command = json.at("command").get<std::vector<std::string>>();
    past.started = json.at("started").get<std::string>();
    past.ended = json.at("ended").get<std::string>();
    return past;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

// Quotes the word for a shell if necessary.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-:=,@%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The last write to the journal: a killed launcher was alive until then at least.
std::string last_written(const LocalHome& home) {
  std::int64_t newest_ns = 0;
  for (const std::string& path : {home.journal(), home.journal() + "-wal"}) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;
    newest_ns = std::max<std::int64_t>(
        newest_ns, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec);
  }
  return newest_ns == 0 ? "" : to_string(Instant{newest_ns});
}

std::string since_when(const LocalHome& home, const PastStart& past) {
  if (!past.ended.empty()) return "it ended at " + past.ended;
  const std::string written = last_written(home);
  return fmt::format("it was started at {}{}, and did not shut down normally", past.started,
                     written.empty() ? "" : ", last wrote its journal at " + written);
}

std::string operators_command(const LocalHome& home, const std::optional<PastStart>& past) {
  if (!past || past->command.empty()) return "lockstepd --home " + quoted(home.launcher()) + " …";
  std::string command;
  for (const auto& word : past->command) command += (command.empty() ? "" : " ") + quoted(word);
  return command;
}

}  // namespace

// Versions without started.json: a launcher that `lockstep` started logs into the home.
bool is_operators(const LocalHome& home) {
  if (const auto past = read_past_start(home.launcher_started())) return !past->by_lockstep;
  return io::exists(home.journal()) && !io::exists(home.launcher_log());
}

Status may_start_launcher(const LocalHome& home) {
  if (!is_operators(home)) return {};
  const auto past = read_past_start(home.launcher_started());
  return make_error(
      ErrorCode::unavailable,
      fmt::format("the launcher of {} is not running{}; it was not started by `lockstep`, so "
                  "`lockstep` does not restart it. To start the launcher again: {}",
                  home.launcher(), past ? " (" + since_when(home, *past) + ")" : "",
                  operators_command(home, past)));
}

std::string how_to_start(const LocalHome& home) {
  if (!is_operators(home)) return "`lockstep up` starts it again";
  return "its operator starts it again: " +
         operators_command(home, read_past_start(home.launcher_started()));
}

}  // namespace lockstep::cli
