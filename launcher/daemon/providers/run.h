#pragma once
// A running provider process. It passes on each line that the provider prints, reports the
// provider's end once, and stops it on request. Everything happens on the event loop; no call
// blocks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/why.h"
#include "common/io/event_loop.h"
#include "common/io/programs/child_program.h"

namespace lockstep::launcher {

class ProviderProcess {
 public:
  static constexpr std::size_t kMaxLineBytes = 64u << 10;  // the longest line of standard output
  static constexpr std::size_t kMaxErrorLineBytes = 4u << 10;  // the rest of the line is dropped
  static constexpr std::size_t kMaxErrorBytes = 1u << 20;      // a minute; more is read and dropped

  struct Handlers {
    std::function<void(std::string_view line)> on_line;        // a line of standard output
    std::function<void(std::string_view line)> on_error_line;  // a line of standard error
    // Called last, and once. `fault` is the argument of stop(), otherwise `failed`. It may destroy
    // the process.
    std::function<void(MachineFault fault, const Why& why)> on_end;
  };
  struct Input {
    io::Fd file;       // standard input, read to its end
    std::string held;  // or this text, after which it stays open until stop()
  };
  struct Limits {
    Duration time = Duration::max();
    std::size_t lines = SIZE_MAX;  // the most lines of standard output
    bool lines_a_minute = false;   // true: the limit is for each minute; false: for the whole run
    Duration grace{0};             // between SIGTERM and SIGKILL
  };
  // The handlers are not called before it returns.
  static Result<std::unique_ptr<ProviderProcess>> start(io::EventLoop& loop,
                                                        const std::vector<std::string>& words,
                                                        Input input, Limits limits, Instant now,
                                                        Handlers handlers);
  ~ProviderProcess();  // kills the process
  ProviderProcess(const ProviderProcess&) = delete;
  ProviderProcess& operator=(const ProviderProcess&) = delete;

  // Makes it end: the end of its held input, then SIGTERM, then SIGKILL. Its output counts no more.
  void stop(Instant now, MachineFault fault, Why why);
  bool is_stopping() const { return stopped_.has_value(); }
  // Does the due work; due() is the latest time for the next call.
  void tick(Instant now);
  Instant due() const;
  int pid() const { return program_.pid(); }
  // Whether the process ended by itself, with exit code 0; for on_end.
  bool has_succeeded() const { return has_succeeded_; }

 private:
  struct Lines {  // The beginning of a line whose end has not arrived yet.
    std::string begun;
    std::size_t count = 0, bytes = 0;
  };
  ProviderProcess(io::EventLoop& loop, io::ChildProgram program, Limits limits, Handlers handlers)
      : loop_(loop),
        program_(std::move(program)),
        limits_(limits),
        handlers_(std::move(handlers)) {}
  void watch();
  void write_input();
  void close_input();
  // Reads output. False: nothing more can come now.
  bool read_output();
  bool read_errors();
  void take_output(std::string_view bytes);
  void take_line(std::string_view line);
  void take_errors(std::string_view bytes);
  void break_off(Why why);
  void on_ended();
  Why reason(const io::ChildProgram::End& end) const;

  io::EventLoop& loop_;
  io::ChildProgram program_;
  const Limits limits_;
  Handlers handlers_;
  io::Fd input_;
  std::string unwritten_;  // the part of the held input that is not written yet
  Lines output_, errors_;
  std::string last_error_line_;
  struct Stopped {
    MachineFault fault = MachineFault::failed;
    Why why;
  };
  std::optional<Stopped> stopped_;  // none: the process was not stopped
  Why broken_;                      // why it must be stopped: the next tick does so
  Instant deadline_ = Instant::never();
  Instant next_signal_ = Instant::never();
  Instant next_minute_ = {};
  bool was_terminated_ = false;
  bool has_succeeded_ = false;
};

}  // namespace lockstep::launcher
