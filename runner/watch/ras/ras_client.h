#pragma once
// Asks NCCL's RAS on this node's loopback what it knows of a job: one question at a time, over a
// connection that never blocks and ends after kRasTimeout. It owns the connection. The port may
// belong to a process of the job, or of anybody, so every answer is parsed as hostile.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/watch/ras/ras_report.h"

namespace lockstep::runner {

inline constexpr Duration kRasTimeout = seconds(20);  // RAS itself gives its peers five

// The port of an address as NCCL_RAS_ADDR has it, if it is one of this machine's loopback; nullopt:
// another address, which is not asked, or none.
std::optional<std::uint16_t> ras_port_of(std::string_view address);

// The messages to and from RAS. Pure.
class RasConversation {
 public:
  // The questions, sent at once: each line is answered by one.
  static std::string_view questions();
  // Takes bytes of the answer. False: the answer is too long.
  bool take(std::string_view bytes);
  // The report, valid at the end of the conversation.
  Result<RasReport> report() const;

 private:
  std::string said_;
};

class RasClient {
 public:
  using Told = std::function<void(Result<RasReport>)>;

  explicit RasClient(io::EventLoop& loop) : loop_(loop) {}
  ~RasClient() { stop(); }
  RasClient(const RasClient&) = delete;
  RasClient& operator=(const RasClient&) = delete;

  // Calls back on the loop, never from within. Does nothing while a question is open.
  void ask(Instant now, std::uint16_t port, Told told);
  bool is_asking() const { return told_ != nullptr; }
  // The time of the next expire(), which gives up an answer that takes too long.
  Instant next_deadline() const { return until_; }
  void expire(Instant now);

 private:
  void write();
  void read();
  void finish(Result<RasReport> result);
  void stop();

  io::EventLoop& loop_;
  io::Fd fd_;
  Told told_;
  Instant until_ = Instant::never();
  std::string_view left_;  // the part of the questions that is not sent yet
  RasConversation talk_;
  std::string failed_;  // the connection could not be made: why, until the next expire()
};

}  // namespace lockstep::runner
