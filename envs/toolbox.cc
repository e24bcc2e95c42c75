#include "envs/toolbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/programs/process_table.h"

namespace lockstep::envs {
namespace {

constexpr int kLookEveryMs = 200;  // the signal may have come just before poll
constexpr Duration kLeftoversEndWithin = seconds(5);
constexpr Duration kCleansUpWithin = seconds(4);  // the agent kills this process a second later
constexpr std::size_t kMaxLineBytes = 4096;

volatile sig_atomic_t stopped = 0;

void on_stop(int signal) { stopped = signal; }

Error stop_error() { return make_error(ErrorCode::conflict, "stopped"); }

bool is_any_of(const io::ProcessIdentity& process, const std::vector<std::string>& names) {
  if (names.empty()) return false;
  const auto name = io::read_file(fmt::format("/proc/{}/comm", process.pid));
  return name &&
         std::find(names.begin(), names.end(), name->substr(0, name->find('\n'))) != names.end();
}

struct Pipe {
  io::Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return make_error(ErrorCode::io, fmt::format("pipe: {}", std::strerror(errno)));
  return Pipe{io::Fd(ends[0]), io::Fd(ends[1])};
}

// The data that the child needs. It is made before the fork: after it, only async-signal-safe calls
// are allowed.
struct Start {
  std::string program;
  std::string directory;
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void become(const Start& start, int in, int out, int err) {
  ::dup2(in < 0 ? ::open("/dev/null", O_RDONLY) : in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir(start.directory.c_str()) == 0)
    ::execve(start.program.c_str(), start.argv.data(), start.envp.data());
  const char* why = std::strerror(errno);
  (void)!::write(2, why, std::strlen(why));
  ::_exit(127);
}

// Splits a stream into lines and keeps the last ones.
class Lines {
 public:
  explicit Lines(const Toolbox::OnLine& on_line) : on_line_(on_line) {}
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      if (c != '\n' && c != '\r' && rest_.size() < kMaxLineBytes) {
        rest_ += c;
        continue;
      }
      end_line();
    }
  }
  void end_line() {
    if (!rest_.empty()) {
      if (on_line_) on_line_(rest_);
      last_.push_back(std::move(rest_));
      if (last_.size() > kMaxTailLines) last_.pop_front();
    }
    rest_.clear();
  }
  std::string tail() const {
    std::string text;
    for (const std::string& line : last_) text += line + "\n";
    return text;
  }

 private:
  const Toolbox::OnLine& on_line_;
  std::string rest_;
  std::deque<std::string> last_;
};

// Reads a pipe. True: `fd` has ended.
bool drain(int fd, const std::function<void(std::string_view)>& take) {
  char buffer[16384];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got < 0) return errno != EINTR && errno != EAGAIN;
  if (got > 0) take({buffer, static_cast<std::size_t>(got)});
  return got == 0;
}

// Writes a tool's standard input as it is produced, as far as the tool reads it.
class Input {
 public:
  Input(io::Fd to, const std::function<Result<std::string_view>()>& next)
      : to_(std::move(to)), next_(next) {}
  int fd() const { return to_.get(); }

  // Returns an error of the producer only. A tool that stops reading reports its own error.
  Status write_some() {
    if (rest_.empty()) {
      TRY_ASSIGN(rest_, next_());
      if (rest_.empty()) {
        to_.reset();
        return {};
      }
    }
    const ssize_t written = ::write(to_.get(), rest_.data(), rest_.size());
    if (written > 0) rest_.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR && errno != EAGAIN) to_.reset();
    return {};
  }

 private:
  io::Fd to_;
  const std::function<Result<std::string_view>()>& next_;
  std::string_view rest_;
};

// "https://user:****@host/…": pip writes it like that, too.
std::string without_passwords(std::string text) {
  for (auto at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const auto end = text.find_first_of("/ ", at + 3);
    const auto host = text.substr(0, end).rfind('@');
    const auto colon = text.find(':', at + 3);
    if (host != std::string::npos && host > at && colon < host)
      text.replace(colon + 1, host - colon - 1, "****");
  }
  return text;
}

void log(std::string_view bytes) { (void)!io::write_all(1, bytes); }

// A tool that runs, and our ends of its pipes.
struct Tool {
  pid_t pid = -1;
  io::Fd in;   // closed without an input
  io::Fd out;  // closed if the standard output goes to the log
  io::Fd err;
};

Result<Tool> launch(const Start& start, bool has_input, bool wanted) {
  TRY_ASSIGN(Pipe out, make_pipe());
  TRY_ASSIGN(Pipe err, make_pipe());
  Pipe in;
  if (has_input) {
    TRY_ASSIGN(in, make_pipe());
    if (::fcntl(in.write.get(), F_SETFL, O_NONBLOCK) != 0)
      return make_error(ErrorCode::io, fmt::format("fcntl: {}", std::strerror(errno)));
  }
  const pid_t child = ::fork();
  if (child < 0) return make_error(ErrorCode::io, fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0)
    become(start, in.read.get(), wanted ? out.write.get() : err.write.get(), err.write.get());
  Tool tool{child, std::move(in.write), {}, std::move(err.read)};
  if (wanted) tool.out = std::move(out.read);
  return tool;
}

using Take = std::function<void(std::string_view)>;

// Passes the tool's output on until its process has ended, and returns that process's wait status.
// None: `stops` became true first. `streamed`: an error of whatever produces the input.
std::optional<int> follow(Tool& tool, Input& input, const Take& to_log, const Take& keep,
                          const std::function<bool()>& stops, Status& streamed) {
  // A tool ends when its process ends. Processes that it left in the background are ended then.
  const io::Fd end(static_cast<int>(::syscall(SYS_pidfd_open, tool.pid, 0)));
  int status = 0;
  bool over = false;
  while (!over && !stops()) {
    over = ::waitpid(tool.pid, &status, WNOHANG) == tool.pid;
    pollfd items[] = {{tool.err.get(), POLLIN, 0},
                      {tool.out.get(), POLLIN, 0},
                      {end.get(), POLLIN, 0},
                      {input.fd(), POLLOUT, 0}};
    ::poll(items, 4, over ? 0 : kLookEveryMs);
    if ((items[3].revents != 0)) streamed = input.write_some();
    if ((items[0].revents != 0) && drain(tool.err.get(), to_log)) tool.err.reset();
    if ((items[1].revents != 0) && drain(tool.out.get(), keep)) tool.out.reset();
  }
  return over ? std::optional(status) : std::nullopt;
}

void take_rest(const io::Fd& fd, const Take& take) {
  while (fd && !drain(fd.get(), take)) {
  }
}

}  // namespace

Toolbox::Toolbox(std::map<std::string, std::string> environment, std::string directory,
                 OnLine on_line)
    : environment_(std::move(environment)),
      directory_(std::move(directory)),
      on_line_(std::move(on_line)) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action {};
  action.sa_handler = on_stop;  // without SA_RESTART, so that a signal ends poll
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::string Toolbox::find(const std::string& program) const {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const auto path = environment_.find("PATH");
  std::string_view rest = path == environment_.end() ? std::string_view() : path->second;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    std::string there = fmt::format("{}/{}", folder, program);
    if (folder.starts_with('/') && ::access(there.c_str(), X_OK) == 0) return there;
  }
  return "";
}

std::string Toolbox::variable(const std::string& name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

Status Toolbox::go_on() const {
  if (stopped != 0) return stop_error();
  return {};
}

void Toolbox::say(std::string_view line) const { log(fmt::format("{}\n", line)); }

void Toolbox::show(std::string_view line) const {
  say(line);
  if (on_line_) on_line_(line);
}

void Toolbox::report(std::string_view line) const {
  if (on_line_) on_line_(line);
}

void Toolbox::await_leftovers(std::vector<std::string> spared) {
  awaits_leftovers_ = true;
  spared_ = std::move(spared);
}

// Repeats until no process is left: one that was started during a round is found in the next.
void Toolbox::end_leftovers(const std::function<bool()>& ends) const {
  io::SystemClock clock;
  const Instant deadline = clock.now() + (awaits_leftovers_ ? kLeftoversEndWithin : Duration{});
  while (true) {
    auto left = io::descendants_of(::getpid());
    std::erase_if(left, [&](const auto& process) { return is_any_of(process, spared_); });
    if (ends() || clock.now() >= deadline)
      for (const io::ProcessIdentity& process : left) ::kill(process.pid, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (left.empty()) return;
    const timespec pause{0, 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

Result<Toolbox::Answer> Toolbox::run(const std::vector<std::string>& words, Output output) {
  TRY(go_on());
  return run_until(words, output, on_line_, [] { return stopped != 0; }, {});
}

Result<Toolbox::Answer> Toolbox::run_with(const std::vector<std::string>& words,
                                          const Streams& streams) {
  TRY(go_on());
  const Output output = streams.take ? Output::wanted : Output::log;
  return run_until(
      words, output, on_line_, [] { return stopped != 0; }, streams);
}

Result<Toolbox::Answer> Toolbox::run_and_read(const std::vector<std::string>& words,
                                              const Reading& read) {
  TRY(go_on());
  const OnLine on_line = [&](std::string_view line) {
    if (on_line_) on_line_(read(line));
  };
  return run_until(words, Output::log, on_line, [] { return stopped != 0; }, {});
}

void Toolbox::clean_up(const std::vector<std::string>& words) {
  io::SystemClock clock;
  const Instant end = clock.now() + kCleansUpWithin;
  static_cast<void>(
      run_until(words, Output::log, on_line_, [&] { return clock.now() >= end; }, {}));
}

Result<Toolbox::Answer> Toolbox::run_until(const std::vector<std::string>& words, Output output,
                                           const OnLine& on_line, const std::function<bool()>& ends,
                                           const Streams& streams) {
  Start start{find(words.front()), directory_, words, {}, {}, {}};
  if (start.program.empty())
    return make_error(ErrorCode::not_found, fmt::format("there is no program {}", words.front()));
  for (const auto& [name, value] : environment_) start.variables.push_back(name + "=" + value);
  start.argv = pointers(start.words);
  start.envp = pointers(start.variables);
  say(fmt::format("$ {}", without_passwords(fmt::format("{}", fmt::join(words, " ")))));
  TRY_ASSIGN(Tool tool, launch(start, streams.next != nullptr, output == Output::wanted));

  Answer answer;
  Lines lines(on_line);
  const Take to_log = [&](std::string_view bytes) {
    log(bytes);
    lines.add(bytes);
  };
  Status streamed;
  Input input(std::move(tool.in), streams.next);
  const Take keep = [&](std::string_view bytes) {
    if (streams.take) {
      if (streamed) streamed = streams.take(bytes);
      return;
    }
    answer.output.append(bytes.substr(0, kMaxWantedBytes - answer.output.size()));
  };
  const auto stops = [&] { return ends() || !streamed; };
  const auto status = follow(tool, input, to_log, keep, stops, streamed);
  end_leftovers(stops);
  if (!streamed) return streamed.error();
  if (!status) return stop_error();
  take_rest(tool.err, to_log);
  take_rest(tool.out, keep);
  if (!streamed) return streamed.error();
  lines.end_line();
  answer.exit_code = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  answer.tail = lines.tail();
  return answer;
}

}  // namespace lockstep::envs
