#pragma once
// The content of a token file: everything a node needs to join, including a secret that permits it.
// The text is lockstep-token-1.<base64url of JSON
// {"key","join","control","bulk","secret","expires","sum"}>; it is shown once and never logged.

#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::wire {

struct JoinToken {
  PublicKey launcher_key;
  std::string join_endpoint;  // tcp://host:port
  std::string control_endpoint;
  std::string bulk_endpoint;
  std::string secret;
  Instant expires;
  friend bool operator==(const JoinToken&, const JoinToken&) = default;
};

std::string encode(const JoinToken& token);

// Ignores blanks and newlines around the text, because an editor may have added some.
Result<JoinToken> decode_join_token(std::string_view text);

}  // namespace lockstep::wire
