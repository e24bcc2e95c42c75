#pragma once
// One line for each request: who, what, how it ended, how much and how long. It holds no query, no
// field and no body, so no token can be in it; everything that a client chose is made printable.

#include <cstdint>
#include <string>

#include "common/base/time.h"

namespace lockstep::http {

struct AccessRecord {
  Instant began;
  Duration took{0};
  std::string address;                        // "": a unix socket
  std::uint64_t connection = 0, request = 0;  // numbers; the second counts within the first
  std::string user;                           // "": nobody was identified
  std::string method, path;                   // "": the request was not read so far
  int status = 0;                             // 0: none was sent
  std::uint64_t bytes_in = 0, bytes_out = 0;  // of the bodies
  std::string dropped = {};                   // why there was no whole answer; "": there was
};
// Without a newline: 2026-01-31T12:00:00.000Z 10.0.0.1 c12/3 ann GET /api/v1/jobs 200 in=0 out=81
// 2ms
std::string access_line(const AccessRecord& record);

}  // namespace lockstep::http
