#include "launcher/compute/docker/attached.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/io/clock.h"
#include "common/io/programs/child_program.h"
#include "common/io/programs/run_program.h"
#include "launcher/compute/agent_output.h"

namespace lockstep::compute::docker {
namespace {

constexpr std::size_t kMaxText = 16 << 10;

// Reads the lines of one stream, and notes whether one of them reports that the agent joined.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}
  int fd() const { return fd_; }

  // Reads what is available. True: a whole line reports that the agent joined.
  bool read(std::string& text) {
    std::array<char, 4'096> buffer;
    for (;;) {
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) fd_ = -1;
      if (got <= 0) return false;
      const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
      text.append(piece);
      if (text.size() > kMaxText) text.erase(0, text.size() - kMaxText);
      if (take(piece)) return true;
    }
  }

 private:
  bool take(std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != piece.npos; piece.remove_prefix(end + 1)) {
      line_.append(piece.substr(0, end));
      if (says_joined(line_)) return true;
      line_.clear();
    }
    line_.append(piece);
    if (line_.size() > kMaxText) line_.clear();
    return false;
  }

  int fd_;  // -1: the stream has ended
  std::string line_;
};

Attached end_of(io::ChildProgram& program, std::string text) {
  Attached attached{Attached::End::ended, 0, std::move(text)};
  if (const auto end = program.reap())
    attached.exit_code = end->signal != 0 ? 128 + end->signal : end->exit_code;
  return attached;
}

}  // namespace

Result<Attached> run_until_joined(const std::vector<std::string>& words, std::string_view token,
                                  Duration timeout) {
  TRY_ASSIGN(const io::Fd input, io::memory_file(std::string(token) + "\n"));
  TRY_ASSIGN(io::ChildProgram program, io::ChildProgram::start(words, input.get()));
  Lines output(program.output()), errors(program.errors());
  std::string text;
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  for (;;) {
    const std::int64_t left = (end - clock.now()).count() / 1'000'000;
    if (left <= 0) return Attached{Attached::End::timed_out, 0, std::move(text)};
    std::array<pollfd, 3> items{
        {{output.fd(), POLLIN, 0}, {errors.fd(), POLLIN, 0}, {program.ended(), POLLIN, 0}}};
    ::poll(items.data(), items.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (output.read(text) || errors.read(text))
      return Attached{Attached::End::joined, 0, std::move(text)};
    if (items[2].revents != 0) return end_of(program, std::move(text));
  }
}

}  // namespace lockstep::compute::docker
