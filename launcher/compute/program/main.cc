// lockstep-provider KIND VERB: makes machines into nodes and removes them, for the launcher that
// runs it. docs/decisions/038-providers.md defines the contract.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "common/base/printable.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/docker/provider.h"
#include "launcher/compute/kubernetes/provider.h"
#include "launcher/compute/slurm/provider.h"
#include "launcher/compute/ssh/hold.h"
#include "launcher/compute/ssh/provider.h"

namespace {

using namespace lockstep;

constexpr int kNotUnderstood = 2;
constexpr std::array<std::string_view, 4> kKinds{"ssh", "docker", "slurm", "kubernetes"};

constexpr const char* kUsage =
    "usage: lockstep-provider KIND VERB < REQUEST.json\n"
    "KIND: ssh, docker, slurm, kubernetes. VERB: check, create, list, remove, hold. A launcher "
    "runs "
    "this\n"
    "program; it is described in docs/decisions/038-providers.md.\n";

int refuse(const std::string& why) {
  std::fprintf(stderr, "lockstep-provider: %s\n", lockstep::printable(why).c_str());
  return kNotUnderstood;
}

// Reads the request. `hold` runs until its standard input ends, so its request is only the first
// line.
Result<std::string> read_request(compute::Verb verb) {
  if (verb != compute::Verb::hold)
    return io::read_file("/dev/stdin", Bytes{compute::kMaxRequestBytes});
  std::string text;
  std::array<char, 4'096> buffer;
  while (text.find('\n', text.size() - std::min(text.size(), buffer.size())) == text.npos) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read the request");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > compute::kMaxRequestBytes)
      return make_error(ErrorCode::invalid_argument, "the request is too long");
  }
  return text.substr(0, text.find('\n'));
}

Result<int> carry_out(const std::string& kind, compute::Verb verb, const compute::Request& request,
                      compute::Events& events) {
  if (kind == "docker") return compute::docker::carry_out(verb, request, events);
  if (kind == "slurm") return compute::slurm::carry_out(verb, request, events);
  if (kind == "kubernetes") return compute::kubernetes::carry_out(verb, request, events);
  return compute::ssh::carry_out(verb, request, io::program_directory() + "/lockstep-provider",
                                 events);
}

int run(const std::string& kind, const std::string& word) {
  const auto verb = compute::verb_from(word);
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end())
    return refuse(
        fmt::format("there is no kind '{}'; the kinds are {}", kind, fmt::join(kKinds, ", ")));
  if (!verb)
    return refuse("there is no verb '" + word +
                  "'; the verbs are check, create, list, remove and hold");
  const auto text = read_request(*verb);
  if (!text) return refuse(text.error().message);
  const auto request = compute::request_from(*text, *verb);
  if (!request) return refuse(request.error().message);
  const auto work = [&] {
    compute::Events events(STDOUT_FILENO);
    const auto failures = carry_out(kind, *verb, *request, events);
    if (!failures) return refuse(failures.error().message);
    return *failures == 0 ? 0 : 1;
  };
  return *verb == compute::Verb::hold ? compute::ssh::run_guarded(work) : work();
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  io::forbid_core_dumps();
  if (compute::ssh::is_askpass()) return compute::ssh::answer_askpass();
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("lockstep-provider %s\n", LOCKSTEP_VERSION);
    return 0;
  }
  if (argc != 3) {
    std::fputs(kUsage, argc == 2 && std::string(argv[1]) == "--help" ? stdout : stderr);
    return argc == 2 && std::string(argv[1]) == "--help" ? 0 : kNotUnderstood;
  }
  return run(argv[1], argv[2]);
}
