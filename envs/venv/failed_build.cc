#include "envs/venv/failed_build.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <string_view>

#include "common/base/cut.h"
#include "common/base/trimmed.h"
#include "common/base/utf8.h"

namespace lockstep::envs {
namespace {

constexpr std::size_t kMaxLineBytes = 64 << 10;

// "2026-11-25T04:43:08,671 ": pip puts it before each line.
std::string_view without_time(std::string_view line) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00,000 ";
  if (line.size() < kForm.size() || line[4] != '-' || line[10] != 'T' || line[19] != ',')
    return line;
  return line.substr(kForm.size());
}

bool decides(std::string_view line) {
  constexpr std::array<std::string_view, 9> kSigns{"error:",
                                                   "Error:",
                                                   "ERROR:",
                                                   "error[E",
                                                   "undefined reference to",
                                                   "cannot find -l",
                                                   "command not found",
                                                   "CMake Error",
                                                   "not found (required"};
  // Lines in which callers of the compiler repeat its error.
  constexpr std::array<std::string_view, 3> kEchoes{"error: command ", "error: Command ",
                                                    "CalledProcessError"};
  const auto has = [&](std::string_view sign) { return line.find(sign) != line.npos; };
  return std::any_of(kSigns.begin(), kSigns.end(), has) &&
         std::none_of(kEchoes.begin(), kEchoes.end(), has);
}

// The last line that is more than a mark below another line.
std::string last_words(const Words& output) {
  const auto last = std::find_if(output.rbegin(), output.rend(), [](const std::string& line) {
    return trimmed(line).find_first_not_of("^~| ") != std::string_view::npos;
  });
  return last == output.rend() ? "" : *last;
}

Words deciding_of(const Words& output) {
  Words deciding;
  for (const std::string& line : output)
    if (deciding.size() < kMaxDecidingLines && decides(line))
      deciding.push_back(lockstep::cut(std::string(trimmed(line)), kMaxDecidingBytes));
  if (deciding.empty() && !last_words(output).empty())
    deciding.push_back(cut(last_words(output), kMaxDecidingBytes));
  return deciding;
}

}  // namespace

std::optional<FailedBuild> failed_build(const std::string& log) {
  constexpr std::string_view kBegins = "Running command ", kRichEnd = "[present-rich] ",
                             kEnd = "subprocess-exited-with-error",
                             kEndBefore22 = "Command errored out with exit status";
  std::optional<FailedBuild> failed;
  std::string step;
  std::deque<std::string> output;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    line.resize(head(line, kMaxLineBytes).size());
    const std::string_view text = without_time(line);
    const std::string_view words = trimmed(text);
    if (words.starts_with(kBegins)) {
      step = words.substr(kBegins.size());
      output.clear();
      continue;
    }
    const auto rich = words.find(kRichEnd);
    if (rich != words.npos || words.find(kEnd) != words.npos ||
        words.find(kEndBefore22) != words.npos) {
      if (step.empty()) continue;  // the line belongs to a step that was reported already
      if (rich != words.npos) step = words.substr(rich + kRichEnd.size());
      failed = {step, {output.begin(), output.end()}, {}};
      step.clear();
      output.clear();
    } else if (!step.empty()) {
      output.emplace_back(text.starts_with("  ") ? text.substr(2) : text);
      if (output.size() > kMaxBuildLines) output.pop_front();
    }
  }
  if (failed) failed->deciding = deciding_of(failed->output);
  return failed;
}

}  // namespace lockstep::envs
