#pragma once
// The client's side of one attachment (decision 078), without I/O: it tracks which bytes were sent
// and taken, which have arrived and were written, and when to send the opening again. Frames may be
// lost, doubled and late in both directions, and the relays may be killed: the bytes of each stream
// come out once and in order. Pure: it reads no clock, and frames leave it through take_frames().

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/runners/attach_frames.h"

namespace lockstep::cli {

class AttachStreams {
 public:
  // Sends the opening. It is given up when nobody has opened the attachment `open_within`.
  AttachStreams(AttachOpen opening, Instant now, Duration open_within = seconds(20));

  // ---- to the program
  std::size_t room() const;  // bytes that feed() takes now; 0 before the attachment is open
  void feed(std::string_view bytes, Instant now);  // at most room() bytes
  void end_input(Instant now);  // the program's standard input ends after these bytes
  void resize(TerminalSize size);
  void notify(int signal);  // kept until the attachment is open
  void close();             // the runner ends what still runs, and forgets the attachment

  // ---- frames
  void on_frame(const AttachBody& body, Instant now);
  void on_link_up(Instant now);  // notes that the link is up again; frames may have been lost
  void tick(Instant now);        // at next_deadline() or later
  Instant next_deadline() const;
  std::vector<AttachBody> take_frames();  // the frames to send now, in this order

  // ---- from the program
  std::string_view waiting(AttachStream stream) const;  // came, and is not written yet
  void written(AttachStream stream, std::size_t bytes, Instant now);

  // ---- where it stands
  const std::optional<AttachOpened>& opened() const { return opened_; }  // also after its end
  // The end, once the program has ended and all of its output is written; else null.
  const AttachEnd* ended() const;
  // Why the attachment does not exist, or not any more; null: it does. unavailable: it may exist
  // later.
  const std::optional<Error>& refused() const { return refused_; }
  // The reason why it cannot go on at the moment, in the launcher's or the node's words; "": they
  // gave none.
  const std::string& waits_for() const { return waits_for_; }
  Duration silent_for(Instant now) const { return now - heard_at_; }

 private:
  struct Incoming {
    std::uint64_t have = 0;     // received without a gap
    std::uint64_t written = 0;  // the bytes of these that were written
    std::uint64_t acked = 0;    // the bytes of these that the runner was told
    std::string waiting;        // [written, have)
  };

  void open(Instant now);
  void repair(Instant now);  // opens, unless an opening is on its way
  void on(const AttachOpened& opened, Instant now);
  void on(const AttachData& data, Instant now);
  void on(const AttachTaken& taken, Instant now);
  void on(const AttachEnd& end, Instant now);
  void on(const AttachRefused& refused, Instant now);
  void send_input(Instant now);
  void take(std::uint64_t offset, Instant now);
  void acknowledge(AttachStream stream, bool again, Instant now);
  void used(Instant now);  // frames came or went whose loss nothing would tell
  void keep_alive(Instant now);
  void give_up(ErrorCode code, std::string message);
  bool is_over() const { return refused_ || is_closed_ || ended() != nullptr; }
  bool lacks_output() const;
  bool writes() const;
  bool is_terminal() const;
  Incoming* incoming(AttachStream stream);
  const Incoming* incoming(AttachStream stream) const;

  AttachOpen opening_;
  const Instant give_up_at_;  // unless it is open then
  std::vector<AttachBody> frames_;
  std::array<Incoming, 2> incoming_;  // output, error

  std::string kept_;         // input [base_, base_ + size), which is not taken yet
  std::uint64_t base_ = 0;   // taken
  std::uint64_t sent_ = 0;   // since the last answer to an opening
  bool input_ends_ = false;  // true: the input ends behind these bytes
  bool end_sent_ = false;

  std::optional<AttachOpened> opened_;
  std::optional<AttachEnd> end_;
  std::optional<Error> refused_;
  std::string waits_for_;
  std::vector<int> signals_;  // signals that wait until it is open
  bool is_closed_ = false;

  Instant heard_at_;
  Instant asked_at_;
  bool is_asked_ = false;  // an opening has no answer yet
  Duration ask_again_;     // the time from asked_at_ until the opening is repeated
  // set if the opening was refused for now, or answered a moment ago
  Instant retry_at_ = Instant::never();
  Instant taken_by_ = Instant::never();  // input that was sent; else it may be lost
  Duration taken_within_;
  Instant confirm_at_ = Instant::never();  // nothing is lost, by an opening
  Instant alive_at_;
};

}  // namespace lockstep::cli
