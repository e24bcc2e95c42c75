#include "launcher/cli/attach/signal_words.h"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/runners/attach_frames.h"

namespace lockstep::cli {

namespace {

struct Name {
  std::string_view word;
  int number;
};

constexpr std::array kNames = std::to_array<Name>(
    {{"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
     {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},     {"BUS", SIGBUS},   {"FPE", SIGFPE},
     {"KILL", SIGKILL}, {"USR1", SIGUSR1},     {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT},
     {"CHLD", SIGCHLD}, {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
     {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},
     {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
     {"IO", SIGIO},     {"PWR", SIGPWR},       {"SYS", SIGSYS},   {"IOT", SIGABRT},
     {"CLD", SIGCHLD},  {"POLL", SIGIO}});

// the first real-time signal, as in bash: the C library keeps 32 and 33 for itself
constexpr int kFirstRealTime = 34;

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// "RTMIN", "RTMIN+3", "RTMAX-1".
std::optional<int> real_time_signal(std::string_view word) {
  const bool from_first = word.starts_with("RTMIN");
  if (!from_first && !word.starts_with("RTMAX")) return std::nullopt;
  const std::string_view rest = word.substr(5);
  const int base = from_first ? kFirstRealTime : kLastSignal;
  if (rest.empty()) return base;
  if (rest[0] != (from_first ? '+' : '-')) return std::nullopt;
  const auto steps = number_in(rest.substr(1));
  if (!steps || *steps < 0 || *steps > kLastSignal - kFirstRealTime) return std::nullopt;
  return from_first ? base + *steps : base - *steps;
}

}  // namespace

Result<int> signal_from(const std::string& word) {
  if (const auto number = number_in(word)) {
    if (*number >= 1 && *number <= kLastSignal) return *number;
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("there is no signal {}; signals are 1 to {}", *number, kLastSignal));
  }
  std::string upper(word);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper.starts_with("SIG")) upper.erase(0, 3);
  for (const Name& name : kNames)
    if (upper == name.word) return name.number;
  if (const auto number = real_time_signal(upper)) return *number;
  std::vector<std::string_view> names;
  for (const Name& name : kNames) names.push_back(name.word);
  const std::string near = nearest(upper, names);
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a signal; {}", word,
                                near.empty() ? "write a name or number of `kill -l`, such as USR1, "
                                               "SIGUSR1 or 10"
                                             : "did you mean " + near + "?"));
}

std::string signal_text(int number) {
  for (const Name& name : kNames)
    if (name.number == number) return fmt::format("SIG{}", name.word);
  if (number > kFirstRealTime) return fmt::format("SIGRTMIN+{}", number - kFirstRealTime);
  return number == kFirstRealTime ? "SIGRTMIN" : fmt::format("signal {}", number);
}

}  // namespace lockstep::cli
