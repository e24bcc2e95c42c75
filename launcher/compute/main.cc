// lockstep-provider KIND VERB: makes machines into nodes and gives them back, for a launcher that
// runs it. docs/decisions/038-providers.md has the contract.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/provider.h"

namespace {

using namespace lockstep;

constexpr int kNotUnderstood = 2;

constexpr const char* kUsage =
    "usage: lockstep-provider KIND VERB < REQUEST.json\n"
    "KIND: ssh. VERB: check, create, list, remove. A launcher runs this program; it is described\n"
    "in docs/decisions/038-providers.md.\n";

int refuse(const std::string& why) {
  std::fprintf(stderr, "lockstep-provider: %s\n", why.c_str());
  return kNotUnderstood;
}

int run(const std::string& kind, const std::string& word) {
  const auto verb = compute::verb_from(word);
  if (kind != "ssh") return refuse("there is no kind '" + kind + "'; the only kind is ssh");
  if (!verb)
    return refuse("there is no verb '" + word + "'; the verbs are check, create, list and remove");
  const auto text = io::read_file("/dev/stdin", Bytes{compute::kMaxRequestBytes});
  if (!text) return refuse(text.error().message);
  const auto request = compute::request_from(*text, *verb);
  if (!request) return refuse(request.error().message);
  compute::Events events(STDOUT_FILENO);
  const auto failures = compute::ssh::carry_out(
      *verb, *request, io::program_directory() + "/lockstep-provider", events);
  if (!failures) return refuse(failures.error().message);
  return *failures == 0 ? 0 : 1;
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
