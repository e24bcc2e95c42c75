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
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

// The id of an attachment: 16 random bytes, which the client chose, so that an opening may be
// repeated.
using AttachId = Id<struct AttachIdTag, std::string>;
inline constexpr std::size_t kAttachIdBytes = 16;

inline constexpr std::size_t kAttachWindow = 256u << 10;  // sent and not taken, of each stream
inline constexpr std::size_t kMaxAttachData = 64u << 10;  // the most bytes of one frame
inline constexpr std::size_t kMaxAttachCommandBytes = 64u << 10;  // the most bytes of all words
                                                                  // with their NULs
inline constexpr std::size_t kMaxAttachWords = 8'192;
inline constexpr std::size_t kMaxTermBytes = 128;
inline constexpr int kLastSignal = 64;
inline constexpr std::size_t kMaxAttachmentsOfPart = 64;
inline constexpr Duration kAttachAliveEvery = seconds(5);
inline constexpr Duration kAttachAskAfter = seconds(8);  // a client opens again after this time
                                                         // without a frame
inline constexpr Duration kAttachSilence = seconds(60);  // the runner ends the attachment after
                                                         // this time without a frame

// Sums of offsets with sizes do not overflow.
inline constexpr Rule kAttachOffsetRule{.high = std::int64_t{1} << 62};

struct TerminalSize {
  std::uint16_t rows = 24, columns = 80;
  static void table(auto& s, auto&& see) {
    see(field<1>, "rows", s.rows);
    see(field<2>, "columns", s.columns);
  }
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// ---- orders ------------------------------------------------------------------------------------
// A program beside the rank, with its user, place, variables and limits. No argv: the account's
// shell.
struct AttachProgram {
  std::vector<std::string> argv;
  bool terminal = false;     // a pty; else three pipes
  TerminalSize size = {};    // the size of the pty
  std::string term = {};     // the value of TERM; "": not set
  bool takes_input = false;  // false: its standard input is /dev/null
  static void table(auto& s, auto&& see) {
    see(field<1>, "argv", s.argv, {.count = kMaxAttachWords});
    see(field<2>, "terminal", s.terminal);
    see(field<3>, "size", s.size);
    see(field<4>, "term", s.term, {.bytes = kMaxTermBytes});
    see(field<5>, "takes_input", s.takes_input);
  }
  friend bool operator==(const AttachProgram&, const AttachProgram&) = default;
};
// The standard streams of rank 0, of a job with lockstep.terminal.
struct AttachMain {
  TerminalSize size = {};
  static void table(auto& s, auto&& see) { see(field<1>, "size", s.size); }
  friend bool operator==(const AttachMain&, const AttachMain&) = default;
};
// Sends a signal to the process groups of the ranks. The outcome has code 0 if it was sent to each
// that runs.
struct AttachSignal {
  std::int32_t number = 0;  // 1 … 64
  static void table(auto& s, auto&& see) { see(field<1>, "number", s.number); }
  friend bool operator==(const AttachSignal&, const AttachSignal&) = default;
};
// Asks for the stacks of processes. The output is one line of JSON per process: stacks.h of the
// runner.
struct AttachStacks {
  bool native = false;     // frames of C and C++ below Python's too
  bool standings = false;  // writes a line for each watched rank before them: standing_line.h
  static void table(auto& s, auto&& see) {
    see(field<1>, "native", s.native);
    see(field<700>, "standings", s.standings);
  }
  friend bool operator==(const AttachStacks&, const AttachStacks&) = default;
};
using AttachOrder = std::variant<AttachProgram, AttachMain, AttachSignal, AttachStacks>;

// Checks an order before it goes to a node: the limits above, no word with a NUL, a first word that
// is not empty, TERM in the form of a terminal's name, an existing signal. Returns invalid_argument
// with what to change.
Status validate(const AttachOrder& order);

// ---- frames ------------------------------------------------------------------------------------
enum class AttachStream : std::uint8_t { input = 1, output = 2, error = 3 };
Word describe(AttachStream stream);

// client -> runner. Opens an attachment; sent first, and again to repair losses and while all is
// quiet, since a lost last frame would not be noticed otherwise: the same id starts nothing anew.
// The client names the job, and a rank, or a node by its rank in the gang, or neither: then rank 0,
// of a signal and of stacks all ranks of one node; a client asks node by node. `attempt` is absent
// (number 0) until the launcher has added it; it then makes `node_rank` the one that this is sent
// to. A client that repairs sends it as the runner's AttachOpened had it, so that an attachment
// never goes on in another attempt.
struct AttachOpen {
  JobId job;
  std::optional<std::int32_t> rank;
  std::int32_t node_rank = -1;
  AttemptId attempt = {};
  AttachOrder order;
  std::uint64_t have_output = 0, have_error = 0;  // the bytes that the client has
  // True if the attachment was open before. A runner that does not know its id refuses it, so that
  // no program is started twice.
  bool again = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "rank", s.rank, kRankRule);
    see(field<3>, "node_rank", s.node_rank, {.low = 0, .high = kMaxNodesPerJob - 1, .none = -1});
    see(field<4>, "attempt", s.attempt, {.unless_empty = true});
    see(one_of<10, 11, 12, 13>, "order", s.order);
    see(field<5>, "have_output", s.have_output, kAttachOffsetRule);
    see(field<6>, "have_error", s.have_error, kAttachOffsetRule);
    see(field<7>, "again", s.again);
  }
  static Status check(const AttachOpen& open);
  friend bool operator==(const AttachOpen&, const AttachOpen&) = default;
};
// runner -> client: the answer to each opening.
struct AttachOpened {
  AttemptId attempt;
  std::int32_t rank = 0;
  std::int32_t node_rank = 0;
  std::string node;              // the node's name; the launcher writes it
  std::uint64_t have_input = 0;  // the runner's; as AttachTaken, which may have been lost
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "rank", s.rank, kRankRule);
    see(field<3>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<4>, "node", s.node);
    see(field<5>, "have_input", s.have_input, kAttachOffsetRule);
  }
  friend bool operator==(const AttachOpened&, const AttachOpened&) = default;
};
// Data of a stream, in both directions. A part that has arrived already is skipped; a part that
// lies ahead is dropped.
struct AttachData {
  AttachStream stream = AttachStream::output;
  std::uint64_t offset = 0;
  std::string bytes;
  bool end = false;  // nothing follows these bytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "stream", s.stream);
    see(field<2>, "offset", s.offset, kAttachOffsetRule);
    see(field<3>, "bytes", s.bytes, {.bytes = kMaxAttachData});
    see(field<4>, "end", s.end);
  }
  friend bool operator==(const AttachData&, const AttachData&) = default;
};
// The number of bytes that the receiver has written to the program or shown, in both directions.
struct AttachTaken {
  AttachStream stream = AttachStream::output;
  std::uint64_t offset = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "stream", s.stream);
    see(field<2>, "offset", s.offset, kAttachOffsetRule);
  }
  friend bool operator==(const AttachTaken&, const AttachTaken&) = default;
};
struct AttachResize {  // client -> runner; the last one counts
  TerminalSize size;
  static void table(auto& s, auto&& see) { see(field<1>, "size", s.size); }
  friend bool operator==(const AttachResize&, const AttachResize&) = default;
};
struct AttachNotify {  // client -> runner: a signal for the program's process group
  std::int32_t number = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "number", s.number, {.low = 1, .high = kLastSignal});
  }
  friend bool operator==(const AttachNotify&, const AttachNotify&) = default;
};
// client -> runner while bytes are on their way, and the runner's answer. One of these or an
// opening comes every kAttachAliveEvery.
struct AttachAlive {
  static void table(auto&, auto&&) {}
  friend bool operator==(const AttachAlive&, const AttachAlive&) = default;
};
// runner -> client, after the last byte of both outputs; again with each opening until the client
// has closed.
struct AttachEnd {
  std::int32_t code = 0;  // 0 … 255 as a shell has it: 128 + n for a signal; 125: ours
  std::string message;    // "": the program ended by itself
  std::uint64_t output = 0, error = 0;  // how long the streams are
  static void table(auto& s, auto&& see) {
    see(field<1>, "code", s.code, {.low = 0, .high = 255});
    see(field<2>, "message", s.message, kCutText);
    see(field<3>, "output", s.output, kAttachOffsetRule);
    see(field<4>, "error", s.error, kAttachOffsetRule);
  }
  friend bool operator==(const AttachEnd&, const AttachEnd&) = default;
};
struct AttachClose {  // client -> runner: end what still runs, and forget the attachment
  static void table(auto&, auto&&) {}
  friend bool operator==(const AttachClose&, const AttachClose&) = default;
};
// launcher, agent or runner -> client: the attachment does not exist; `message` says why. With
// `for_now` the client tries again.
struct AttachRefused {
  std::string message;
  bool for_now = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "message", s.message, kCutText);
    see(field<2>, "for_now", s.for_now);
  }
  friend bool operator==(const AttachRefused&, const AttachRefused&) = default;
};

using AttachBody = std::variant<AttachOpen, AttachOpened, AttachData, AttachTaken, AttachResize,
                                AttachNotify, AttachAlive, AttachEnd, AttachClose, AttachRefused>;

// A message of the bulk socket, and of the sockets between agent and runner.
struct AttachFrame {
  static constexpr int kBody = 140;
  AttachId attachment;
  AttachBody body;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attachment", s.attachment);
    see(one_of<10, 11, 12, 13, 14, 15, 16, 17, 18, 19>, "body", s.body);
  }
  static Status check(const AttachFrame& frame);
  friend bool operator==(const AttachFrame&, const AttachFrame&) = default;
};

}  // namespace lockstep
