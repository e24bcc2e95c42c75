#pragma once
// One neighbour's ordered stream of frames, as a value: numbers what goes out and keeps it until it
// is acknowledged, drops doubles, and asks again after a gap. A TCP connection that breaks and
// comes back therefore loses and doubles nothing. No socket and no clock here.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::runner {

inline constexpr int kToNeighbour = -1;  // LinkFrame::to: whoever receives it
inline constexpr int kToEveryone = -2;   // every node but `from`

// On the wire: 32 bytes, little-endian: magic u32 "LSG1", kind u32, from i32, to i32, sequence u64,
// acknowledged u64; then the payload.
struct LinkFrame {
  enum class Kind : std::uint32_t {
    data = 1,
    beat = 2,    // only carries `acknowledged`
    resend = 3,  // the same, and asks for everything after it
    bye = 4,     // the sender leaves and needs nothing more: nobody has to wait for it
    heard = 5,   // the answer to a bye
  };
  Kind kind = Kind::beat;
  int from = 0;
  int to = kToNeighbour;
  std::uint64_t sequence = 0;      // of data frames, from 1
  std::uint64_t acknowledged = 0;  // last sequence that the sender has in order
  std::string payload;
};
std::string encode_frame(const LinkFrame& frame);
std::optional<LinkFrame> decode_frame(std::string_view bytes);  // nullopt: not one of ours

class LinkStream {
 public:
  void push(int from, int to, std::string payload);
  // The next frame to put on the wire, or nullopt; it stays the next until `sent`.
  std::optional<LinkFrame> next() const;
  void sent();
  LinkFrame control(LinkFrame::Kind kind, int from) const;

  // Takes in acknowledgements and requests. True: data, in order, to be handled now.
  bool accept(const LinkFrame& frame);
  // The other side is a new connection: everything unacknowledged goes again.
  void rewind();

  bool take_gap();  // once per gap: a resend frame is due
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
  std::uint64_t received_ = 0;          // last data frame in order
  std::uint64_t acknowledged_out_ = 0;  // what we last told the other side
  bool gap_ = false;
};

}  // namespace lockstep::runner
