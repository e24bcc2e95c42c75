#include "launcher/compute/kubernetes/kubectl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "launcher/compute/agent_output.h"
#include "launcher/compute/tools.h"

namespace lockstep::compute::kubernetes {
namespace {

constexpr Duration kAnswerTimeout = seconds(30);
// The time for each object: kubectl sends only a few requests per second.
constexpr Duration kForEachObject = milliseconds(500);
constexpr std::size_t kMaxAnswer = 256u << 20;  // enough for 10,000 pods
constexpr std::size_t kMaxAbout = 1'000;

std::string joined_lines(std::string_view text) {
  std::string line(text.substr(0, kMaxAbout));
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

Failure code_of(std::string_view errors) {
  if (has_any(errors, {"unauthorized", "must be logged in", "getting credentials", "exec plugin",
                       "no auth provider found", "provide credentials"}))
    return Failure::unauthenticated;
  if (has_any(errors, {"exceeded quota", "too many requests"})) return Failure::failed;
  if (has_any(errors, {"(forbidden)"}) && has_any(errors, {" cannot "}))
    return Failure::no_permission;
  if (has_any(errors, {"(forbidden)", "(invalid)", "is invalid", "(badrequest)", "(notfound)",
                       "does not exist", "no such file", "no configuration has been provided",
                       "error loading config", "invalid configuration", "unknown flag",
                       "unable to recognize"}))
    return Failure::unsupported;
  if (has_any(errors, {"(alreadyexists)"})) return Failure::conflict;
  if (has_any(errors, {"connection to the server", "unable to connect", "connection refused",
                       "no such host", "i/o timeout", "handshake timeout", "deadline exceeded",
                       "no route to host", "(serviceunavailable)", "x509:", "eof"}))
    return Failure::unreachable;
  return Failure::failed;
}

}  // namespace

Attempt<Kubectl> Kubectl::open(const Settings& settings) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  const std::string program = find_on_path("kubectl", path);
  if (program.empty())
    return tl::unexpected(
        Failed{"connect", Failure::unsupported,
               "there is no kubectl on the launcher's machine, in " + path.substr(0, kMaxAbout) +
                   ". Install it there (Debian: apt-get install kubernetes-client)"});
  std::vector<std::string> words{program, "--request-timeout=20s"};
  if (!settings.kubeconfig.empty()) words.push_back("--kubeconfig=" + settings.kubeconfig);
  if (!settings.context.empty()) words.push_back("--context=" + settings.context);
  return Kubectl(std::move(words));
}

Attempt<io::ProgramOutput> Kubectl::try_to(const std::string& step,
                                           const std::vector<std::string>& words,
                                           std::string_view input, std::size_t objects) const {
  const auto failed = [&](Failure code, std::string why) {
    return tl::unexpected(Failed{step, code, std::move(why)});
  };
  std::vector<std::string> all = beginning_;
  all.insert(all.end(), words.begin(), words.end());
  const auto file = io::memory_file(input);
  if (!file) return failed(Failure::failed, file.error().message);
  const Duration timeout = kAnswerTimeout + kForEachObject * static_cast<int>(objects);
  auto answer = io::run_program(
      all,
      {.timeout = timeout, .input = file->get(), .dies_with_us = true, .max_output = kMaxAnswer});
  if (answer) return *std::move(answer);
  const bool is_slow = answer.error().code == ErrorCode::unavailable;
  return failed(is_slow ? Failure::timed_out : Failure::failed, answer.error().message);
}

Attempt<std::string> Kubectl::run(const std::string& step, const std::vector<std::string>& words,
                                  std::string_view input, std::size_t objects) const {
  auto answer = try_to(step, words, input, objects);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit_code != 0) return tl::unexpected(kubectl_failure(step, answer->errors));
  return std::move(answer->text);
}

Failed kubectl_failure(const std::string& step, std::string_view errors) {
  std::string line = last_line(errors);
  // The causes of an invalid object follow below this line.
  if (line.starts_with("* "))
    if (const auto above = errors.find(" is invalid"); above != errors.npos)
      line = joined_lines(errors.substr(errors.rfind('\n', above) + 1));
  return {step, code_of(errors), line.empty() ? "kubectl failed and said nothing" : line};
}

std::string lines_about(std::string_view errors, std::string_view object) {
  std::istringstream lines{std::string(errors)};
  std::string found;
  bool goes_on = false;
  for (std::string line; std::getline(lines, line) && found.size() < kMaxAbout;) {
    const bool begins = line.find(fmt::format("\"{}\"", object)) != std::string::npos;
    // The causes of an invalid object follow below this line.
    goes_on = begins || (goes_on && line.starts_with("* "));
    if (goes_on) found += (found.empty() ? "" : " ") + line;
  }
  return found.substr(0, kMaxAbout);
}

std::string path_in(const Settings& settings, std::string_view rest) {
  return fmt::format("/api/v1/namespaces/{}/{}", settings.name_space, rest);
}

}  // namespace lockstep::compute::kubernetes
