#include "launcher/tools/trial_fold.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

[[noreturn]] void try_in_child(const std::vector<StampedFact>& facts, int words,
                               volatile std::uint64_t* reached) {
  ::dup2(words, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  State state;
  for (const StampedFact& fact : facts) {
    *reached = *reached + 1;
    state.apply(fact.at, fact.fact);
  }
  ::_exit(0);
}

std::string read_words(int fd) {
  std::string words;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    words.append(buffer, static_cast<std::size_t>(got));
  }
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

}  // namespace

std::optional<std::string> why_not_folding(const std::vector<StampedFact>& facts) {
  int ends[2];
  void* shared = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || ::pipe(ends) != 0)
    return errno_error(errno, "cannot check the facts in a separate process").message;
  auto* reached = static_cast<volatile std::uint64_t*>(shared);
  const pid_t child = ::fork();
  if (child == 0) try_in_child(facts, ends[1], reached);
  ::close(ends[1]);
  const std::string words = read_words(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::uint64_t row = *reached;
  ::munmap(shared, sizeof(std::uint64_t));
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  return fmt::format("journal row {}: its fact contradicts the facts before it: {}", row, words);
}

}  // namespace lockstep::launcher
