#pragma once
// One attachment between our standard streams and a program at a rank, over a connection. It reads
// our input, writes the program's output, passes sizes of the terminal, and repairs losses of
// relays (attach/streams.h). Our terminal is raw while the program has one. It neither dials nor
// waits: its callers are attach/session_loop.h and Beside (follow/beside.h).

#include <functional>
#include <memory>
#include <optional>

#include "common/domain/runners/attach_frames.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

struct AttachOptions {
  AttachOpen open;
  bool is_terminal = false;  // the program has one, and our standard input and output are one
  bool shows_output = true;  // false: output is read and dropped
  bool escapes = true;       // for a terminal: "~." leaves
  Duration open_within = seconds(20);
  // The line for standard error if that is a terminal, once the attachment is open; empty: none.
  std::function<std::string(const AttachOpened&)> greeting = {};
  std::function<std::string()> how_to_start = {};  // see FollowOptions
};

struct AttachOutcome {
  enum class How { ended, refused, left, output_closed };
  How how = How::ended;
  AttachEnd end = {};          // ended
  std::optional<Error> error;  // refused
  int signal = 0;              // left: by this signal; 0: by "~."
};

class AttachClient {
 public:
  // Sends the opening. The connection listens (Connection::listen) and stays as long.
  AttachClient(Connection& connection, Terminal& terminal, AttachOptions options);
  ~AttachClient();

  bool on_bulk(const BulkEnvelope& envelope);  // true: the message was for this session
  void on_bulk_up();
  void tick(Instant now);  // called in each turn of the loop
  Instant next_deadline() const;

  void resize();            // notes that our terminal has another size
  void continued();         // the process was stopped, and goes on: its terminal becomes raw again
  void notify(int signal);  // sends a signal to the program
  void leave(int signal);   // ends the attachment and what runs in it; 0: the person left
  bool is_opened() const;   // true also after its end
  Duration silent_for(Instant now) const;
  const std::string& waits_for() const;  // the same as AttachStreams::waits_for
  // nullopt: the session goes on. Otherwise our terminal is as it was before.
  const std::optional<AttachOutcome>& outcome() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
