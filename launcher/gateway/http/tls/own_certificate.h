#pragma once
// A certificate that signs itself, for a gateway that has none of the operator's. Nobody vouches
// for it: a person compares its fingerprint.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::http {

struct OwnCertificate {
  std::string certificate, key;  // PEM; the key is P-256
};
// Valid for `names` (host names, *.NAME, numeric addresses), from an hour before `now` for `days`.
Result<OwnCertificate> make_own_certificate(const std::vector<std::string>& names, Instant now,
                                            int days);

}  // namespace lockstep::http
