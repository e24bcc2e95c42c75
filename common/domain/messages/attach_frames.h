#pragma once
// Attachments to ranks of a running attempt: a shell, a program, a signal, stacks (decision 078).
// One frame format from the client to the runner and back; launcher and agents only pass frames on.
// Who sends what, and how it is repaired, is said at each frame. Offsets count a stream's bytes
// from the attachment's begin.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep {

// 16 random bytes, which the client chose: an opening may be repeated.
using AttachId = Id<struct AttachIdTag, std::string>;
inline constexpr std::size_t kAttachIdBytes = 16;

inline constexpr std::size_t kAttachWindow = 256u << 10;  // sent and not taken, of each stream
inline constexpr std::size_t kMaxAttachData = 64u << 10;  // of one frame
inline constexpr std::size_t kMaxAttachCommandBytes = 64u << 10;  // of all words with their NULs
inline constexpr std::size_t kMaxAttachWords = 8'192;
inline constexpr std::size_t kMaxTermBytes = 128;
inline constexpr int kLastSignal = 64;
inline constexpr std::size_t kMaxAttachmentsOfPart = 64;
inline constexpr Duration kAttachAliveEvery = seconds(5);
inline constexpr Duration kAttachAskAfter = seconds(8);  // without a frame: open again
inline constexpr Duration kAttachSilence = seconds(60);  // then the runner ends the attachment

struct TerminalSize {
  std::uint16_t rows = 24, columns = 80;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// ---- orders ------------------------------------------------------------------------------------
// A program beside the rank, with its user, place, variables and limits. No argv: the account's
// shell.
struct AttachProgram {
  std::vector<std::string> argv;
  bool terminal = false;     // a pty; else three pipes
  TerminalSize size = {};    // of the pty
  std::string term = {};     // TERM; "": not set
  bool takes_input = false;  // else its standard input is /dev/null
  friend bool operator==(const AttachProgram&, const AttachProgram&) = default;
};
// The standard streams of rank 0, of a job with lockstep.terminal.
struct AttachMain {
  TerminalSize size = {};
  friend bool operator==(const AttachMain&, const AttachMain&) = default;
};
// To the process groups of the ranks. Its outcome has code 0 if it was sent to each that runs.
struct AttachSignal {
  std::int32_t number = 0;  // 1 … 64
  friend bool operator==(const AttachSignal&, const AttachSignal&) = default;
};
// Its output is one line of JSON for each process: stacks.h of the runner.
struct AttachStacks {
  bool native = false;     // frames of C and C++ below Python's too
  bool standings = false;  // before them a line for each rank that is watched: standing_line.h
  friend bool operator==(const AttachStacks&, const AttachStacks&) = default;
};
using AttachOrder = std::variant<AttachProgram, AttachMain, AttachSignal, AttachStacks>;

// Whether a node may be asked for it: the limits above, no word with a NUL and no first word that
// is empty, TERM as a terminal's name, a signal that exists. invalid_argument: what to change.
Status validate(const AttachOrder& order);

// ---- frames ------------------------------------------------------------------------------------
enum class AttachStream : std::uint8_t { input = 1, output = 2, error = 3 };

// client -> runner. First, and again to repair and while all is quiet, since the last frame may be
// lost and no later one tells: the same id starts nothing anew. The client names
// the job, and a rank, or a node by its rank in the gang, or neither: then rank 0, of a signal and
// of stacks all ranks of one node; a client asks node by node. `attempt` is absent (number 0) until
// the launcher has added it; it then makes `node_rank` the one that this is sent to. A client that
// repairs sends it as the runner's AttachOpened had it, so that an attachment never goes on in
// another attempt.
struct AttachOpen {
  JobId job;
  std::optional<std::int32_t> rank;
  std::int32_t node_rank = -1;
  AttemptId attempt = {};
  AttachOrder order;
  std::uint64_t have_output = 0, have_error = 0;  // the client's
  // The attachment was open before. Whoever does not know its id refuses it, so that no program is
  // started twice.
  bool again = false;
  friend bool operator==(const AttachOpen&, const AttachOpen&) = default;
};
// runner -> client: the answer to each opening.
struct AttachOpened {
  AttemptId attempt;
  std::int32_t rank = 0;
  std::int32_t node_rank = 0;
  std::string node;              // its name; the launcher writes it
  std::uint64_t have_input = 0;  // the runner's; as AttachTaken, which may have been lost
  friend bool operator==(const AttachOpened&, const AttachOpened&) = default;
};
// Both ways. A part that was had already is skipped; one that lies ahead is dropped.
struct AttachData {
  AttachStream stream = AttachStream::output;
  std::uint64_t offset = 0;
  std::string bytes;
  bool end = false;  // nothing follows these bytes
  friend bool operator==(const AttachData&, const AttachData&) = default;
};
// Both ways: so many bytes have been taken (written to the program; shown).
struct AttachTaken {
  AttachStream stream = AttachStream::output;
  std::uint64_t offset = 0;
  friend bool operator==(const AttachTaken&, const AttachTaken&) = default;
};
struct AttachResize {  // client -> runner; the last one counts
  TerminalSize size;
  friend bool operator==(const AttachResize&, const AttachResize&) = default;
};
struct AttachNotify {  // client -> runner: a signal for the program's process group
  std::int32_t number = 0;
  friend bool operator==(const AttachNotify&, const AttachNotify&) = default;
};
// client -> runner while bytes are on their way, and the runner's answer. One of these or an
// opening comes every kAttachAliveEvery.
struct AttachAlive {
  friend bool operator==(const AttachAlive&, const AttachAlive&) = default;
};
// runner -> client, after the last byte of both outputs; again with each opening until the client
// has closed.
struct AttachEnd {
  std::int32_t code = 0;  // 0 … 255 as a shell has it: 128 + n for a signal; 125: ours
  std::string message;    // "": the program ended by itself
  std::uint64_t output = 0, error = 0;  // how long the streams are
  friend bool operator==(const AttachEnd&, const AttachEnd&) = default;
};
struct AttachClose {  // client -> runner: end what still runs, and forget the attachment
  friend bool operator==(const AttachClose&, const AttachClose&) = default;
};
// launcher, agent or runner -> client: the attachment does not exist; `message` says why. With
// `for_now` the client tries again.
struct AttachRefused {
  std::string message;
  bool for_now = false;
  friend bool operator==(const AttachRefused&, const AttachRefused&) = default;
};

using AttachBody = std::variant<AttachOpen, AttachOpened, AttachData, AttachTaken, AttachResize,
                                AttachNotify, AttachAlive, AttachEnd, AttachClose, AttachRefused>;

// A message of the bulk socket, and of the sockets between agent and runner.
struct AttachFrame {
  static constexpr int kBody = 140;
  AttachId attachment;
  AttachBody body;
  friend bool operator==(const AttachFrame&, const AttachFrame&) = default;
};

}  // namespace lockstep
