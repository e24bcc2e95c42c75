// FramedSocket hands over exactly the frames that the bytes hold, up to the first that is too long,
// however they are cut. The first byte says into how large pieces.

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/io/net/framed_socket.h"

namespace {

constexpr std::size_t kMaxFrame = 1'000;

std::vector<std::string> frames_of(std::string_view bytes) {
  std::vector<std::string> frames;
  while (bytes.size() >= 4) {
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
    if (length > kMaxFrame || bytes.size() - 4 < length) break;
    frames.emplace_back(bytes.substr(4, length));
    bytes.remove_prefix(4 + length);
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static io::EventLoop loop;
  if (size < 2 || size > 100'000) return 0;
  const std::size_t step = 1 + std::size_t{data[0]} * 16;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto expected = frames_of(bytes);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const io::Fd far(ends[1]);
  std::vector<std::string> heard;
  bool closed = false;
  const io::FramedSocket socket(
      loop, io::Fd(ends[0]), kMaxFrame, [&](std::string frame) { heard.push_back(frame); },
      [&] { closed = true; });
  while (!closed) {
    const auto piece = bytes.substr(0, step);
    const ssize_t sent =
        piece.empty() ? 0 : ::send(far.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (bytes.empty()) ::shutdown(far.get(), SHUT_WR);
    loop.turn(bytes.empty() ? seconds(10) : Duration::zero());
  }
  if (heard != expected) std::abort();
  return 0;
}
