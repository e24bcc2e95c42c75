#pragma once
// The ordered streams of frames to and from one neighbour, as a value. It numbers outgoing frames
// and keeps them until they are acknowledged, drops duplicates, and requests a resend after a gap.
// So a TCP connection that breaks and comes back loses and duplicates no frame. It uses no socket
// and no clock.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::runner {

inline constexpr int kToNeighbour = -1;  // LinkFrame::to: the neighbour that receives it
inline constexpr int kToEveryone = -2;   // every node but `from`

// A frame. On the wire: 32 bytes, little-endian: magic u32 "LSG1", kind u32, from i32, to i32,
// sequence u64, acknowledged u64; then the payload.
struct LinkFrame {
  enum class Kind : std::uint32_t {
    data = 1,
    beat = 2,    // only carries `acknowledged`
    resend = 3,  // carries `acknowledged` and asks for all data frames after it
    bye = 4,     // the sender leaves and needs no more frames: do not wait for it
    heard = 5,   // the answer to a bye
  };
  Kind kind = Kind::beat;
  int from = 0;
  int to = kToNeighbour;
  std::uint64_t sequence = 0;      // the number of a data frame, from 1
  std::uint64_t acknowledged = 0;  // last sequence that the sender has in order
  std::string payload;
};
std::string encode_frame(const LinkFrame& frame);
std::optional<LinkFrame> decode_frame(std::string_view bytes);  // nullopt: not a valid frame

class LinkStream {
 public:
  void push(int from, int to, std::string payload);
  // The next data frame to send, or nullopt. It stays the same until sent() is called.
  std::optional<LinkFrame> next() const;
  void sent();
  LinkFrame control(LinkFrame::Kind kind, int from) const;

  // Processes a received frame. True: it is the next data frame in order; handle its payload now.
  bool accept(const LinkFrame& frame);
  // Sends all unacknowledged frames again; called for a new connection.
  void rewind();

  bool take_gap();  // true once per gap: send a resend frame
  bool acknowledgement_due() const { return received_ != acknowledged_out_; }
  void acknowledgement_sent() { acknowledged_out_ = received_; }
  bool flushed() const { return waiting_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Item {
    int from, to;
    std::string payload;
  };
  std::deque<Item> waiting_;  // waiting_[0] has sequence first_
  std::uint64_t first_ = 1;
  std::uint64_t cursor_ = 1;            // sequence of the next frame to put on the wire
  std::uint64_t received_ = 0;          // sequence of the last data frame received in order
  std::uint64_t acknowledged_out_ = 0;  // the last acknowledgement sent
  bool gap_ = false;
};

}  // namespace lockstep::runner
