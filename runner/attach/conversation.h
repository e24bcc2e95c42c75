#pragma once
// One attachment's conversation with its client, as a pure function of the client's frames and of
// what the program does: the bytes to write to the program, how much may be read from it, and the
// frames to send. Frames may be lost, doubled and reordered; bytes are not. It knows no
// descriptors, processes and clocks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/runners/attach_frames.h"

namespace lockstep::runner {

inline constexpr int kAttachFailed = 125;  // the exit code of a failure outside the program

class Conversation {
 public:
  struct Streams {
    bool input = false;  // the client's bytes are written to the program
    bool error = false;  // whether there is an error stream besides the output
  };
  // `about`: the answer to each opening, except its `have_input`.
  Conversation(AttachOpened about, Streams streams);

  // ---- the client's frames ----------------------------------------------------------------------
  // Of the first opening and of each that repairs: what the client has of each stream.
  void open(std::uint64_t have_output, std::uint64_t have_error);
  void take(const AttachData& data);
  void take(const AttachTaken& taken);
  void hear() { tell_alive_ = true; }  // AttachAlive

  // ---- the program ------------------------------------------------------------------------------
  std::string_view input() const { return input_.bytes; }  // not yet written to the program
  void wrote(std::size_t bytes);
  bool input_is_over() const { return input_.ended && input_.bytes.empty(); }
  // The number of bytes of a stream that may be added now; at most kAttachWindow are kept.
  std::size_t room(AttachStream stream) const;
  void add(AttachStream stream, std::string_view bytes);
  void close(AttachStream stream);  // tells that nothing follows
  // Drops bytes to make room, though the client has not taken them, because others read them, too.
  // The client never gets them, and learns that.
  void lose(AttachStream stream, std::size_t bytes);
  // Ends the conversation with the program's exit. The client gets it after the last byte of its
  // streams.
  void end(std::int32_t code, std::string message);
  bool has_ended() const { return end_.has_value(); }

  // ---- to the client ----------------------------------------------------------------------------
  // The next frame to send; nullopt: none now.
  std::optional<AttachBody> next();

 private:
  struct Input {
    std::uint64_t have = 0;  // the number of bytes received
    std::string bytes;       // the last bytes, not yet written
    bool ended = false;      // whether nothing follows
  };
  struct Output {
    AttachStream stream = AttachStream::output;
    std::uint64_t base = 0;  // the offset of the first byte of `bytes`
    std::uint64_t sent = 0;  // the offset of the next byte to send
    std::uint64_t lost = 0;  // the client must have the bytes before this one
    std::string bytes;       // the bytes that the client has not yet taken
    bool closed = false;
    bool end_told = false;

    std::uint64_t length() const { return base + bytes.size(); }
    void taken_to(std::uint64_t offset);
    void open(std::uint64_t have);
    bool is_all_sent() const { return closed && sent == length(); }
  };
  std::uint64_t taken_input() const { return input_.have - input_.bytes.size(); }
  Output* output(AttachStream stream);
  const Output* output(AttachStream stream) const;
  std::optional<AttachBody> next_of(Output& output);

  const AttachOpened about_;
  const Streams streams_;
  Input input_;
  Output output_, error_;
  bool tell_opened_ = false, tell_taken_ = false, tell_alive_ = false, end_told_ = false;
  std::optional<AttachEnd> end_;
};

}  // namespace lockstep::runner
