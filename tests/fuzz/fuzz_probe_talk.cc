// Whatever comes over a connection of a probe, in whatever pieces: the answering side sends nothing
// after it has hung up, and no more than it was asked for; the dialling side ends or waits.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runner/fabric/probe/path_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::runner;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string key(kProbeKeyBytes, 'k');
  const std::string nonce(kTalkNonceBytes, 'n');

  PathAnswer answer(key, 2, nonce);
  std::size_t answered = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t piece = 1 + static_cast<unsigned char>(rest.front()) % 61;
    const std::string_view part = rest.substr(0, piece);
    rest.remove_prefix(part.size());
    const bool was_broken = answer.is_broken();
    answer.received(part);
    if (was_broken && !answer.to_send().empty()) std::abort();
    answered += answer.to_send().size();
    answer.sent(answer.to_send().size());
  }
  // An answer to the greeting, then at most as much as was said.
  if (answered > kAnswerBytes + size) std::abort();

  if (const auto hello = decode_hello(bytes.substr(0, kHelloBytes));
      hello && bytes.size() >= kHelloBytes && hello->greets_only &&
      encode_hello(*hello).size() != kHelloBytes)
    std::abort();

  PathTest test(key, {1, 2, false, nonce}, {}, Instant{1});
  test.connected(Instant{2});
  test.sent(test.to_send().size());
  test.received(Instant{3}, bytes);
  if (test.is_over() && !test.to_send().empty()) std::abort();
  if (test.is_over() && test.state() == PathState::reached) std::abort();  // it knows no key
  test.expire(Instant::never());
  if (!test.is_over()) std::abort();
  return 0;
}
