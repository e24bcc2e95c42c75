#include "common/io/programs/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>

#include "common/io/clock.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

std::string look_up(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string found = path.substr(at, end - at) + "/" + name;
    if (::access(found.c_str(), X_OK) == 0) return found;
    at = end + 1;
  }
  return "";
}

// Makes async-signal-safe calls only. `dies_with`: 0, or the process whose end kills this one.
[[noreturn]] void run_child(const std::string& program, char* const* words,
                            char* const* environment, int in, int out, int err, int dies_with) {
  if (dies_with != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != dies_with) ::_exit(127);  // the other process ended before the line above
  }
  ::dup2(in >= 0 ? in : ::open("/dev/null", O_RDONLY), 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(program.c_str(), words, environment);
  ::_exit(127);
}

struct Stream {
  Fd fd;
  std::string* into;
};

// Reads the streams to their ends. False: the time is up.
bool read_all(std::vector<Stream>& streams, Duration timeout, std::size_t max_output) {
  SystemClock clock;
  const Instant end = clock.now() + timeout;
  const auto open = [](const Stream& stream) { return static_cast<bool>(stream.fd); };
  while (std::any_of(streams.begin(), streams.end(), open)) {
    std::vector<pollfd> items;
    for (const Stream& stream : streams) items.push_back({stream.fd.get(), POLLIN, 0});
    const auto left = (end - clock.now()).count() / 1'000'000;
    if (left <= 0) return false;
    ::poll(items.data(), items.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(streams[i].fd.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) streams[i].fd.reset();
      const std::size_t room = max_output - streams[i].into->size();
      if (got > 0) streams[i].into->append(buffer, std::min(room, static_cast<std::size_t>(got)));
    }
  }
  return true;
}

// Our environment with `added`, which replaces variables of the same names; ends with a null.
std::vector<char*> environment_with(const std::vector<std::string>& added) {
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=') + 1); };
  std::vector<char*> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& other) {
      return name_of(other) == name_of(*entry);
    });
    if (!replaced) all.push_back(*entry);
  }
  for (const std::string& entry : added) all.push_back(const_cast<char*>(entry.c_str()));
  all.push_back(nullptr);
  return all;
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ProgramOutput> run_program(const std::vector<std::string>& words, Duration timeout,
                                  const std::string& path) {
  return run_program(words, ProgramOptions{timeout, path});
}

Result<ProgramOutput> run_program(const std::vector<std::string>& words,
                                  const ProgramOptions& options) {
  const std::string program = look_up(words.at(0), options.path);
  if (program.empty()) return make_error(ErrorCode::not_found, words[0] + " is not installed");
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  Fd out_read(out[0]), out_write(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  Fd err_read(err[0]), err_write(err[1]);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::vector<char*> environment = environment_with(options.environment);
  const int dies_with = options.dies_with_us ? ::getpid() : 0;
  const pid_t child = ::fork();
  if (child < 0) return errno_error(errno, "start " + program);
  if (child == 0)
    run_child(program, argv.data(), environment.data(), options.input, out_write.get(),
              err_write.get(), dies_with);
  out_write.reset();
  err_write.reset();
  ProgramOutput output;
  std::vector<Stream> streams;
  streams.push_back({std::move(out_read), &output.text});
  streams.push_back({std::move(err_read), &output.errors});
  const bool in_time = read_all(streams, options.timeout, options.max_output);
  if (!in_time) ::kill(child, SIGKILL);
  output.exit_code = exit_code_of(child);
  if (!in_time) {
    return make_error(ErrorCode::unavailable, fmt::format("{} did not end within {}", program,
                                                          format_duration(options.timeout)));
  }
  return output;
}

Result<Fd> memory_file(std::string_view text) {
  Fd file(::memfd_create("lockstep-input", MFD_CLOEXEC));
  if (!file) return errno_error(errno, "make a file in memory");
  TRY(write_all(file.get(), text));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return errno_error(errno, "read a file in memory");
  return file;
}

}  // namespace lockstep::io
