#pragma once
// The maxima of one connection: sizes in bytes, and how long its client and its handler may take.
// What the gateway allows a user or an address is in gate.h.

#include <cstddef>
#include <cstdint>

#include "common/base/time.h"

namespace lockstep::http {

struct Limits {
  std::size_t target_bytes = 8 << 10;   // longer: 414
  std::size_t head_bytes = 16 << 10;    // request line and fields together; longer: 431
  std::size_t fields = 100;             // more: 431
  std::size_t input_bytes = 24 << 10;   // received and not parsed; then the socket is not read
  std::size_t output_bytes = 64 << 10;  // made and not written; then no more is made
  std::uint64_t requests = 10'000;      // the answer to the last of them ends the connection

  Duration first_byte = seconds(15);   // of a new connection; a TLS handshake is part of it
  Duration head = seconds(10);         // from the first byte of a request to the end of its fields
  Duration idle = seconds(75);         // between two requests
  Duration body_stall = seconds(30);   // without a byte of a body that is waited for
  Duration body_grace = seconds(20);   // waiting for a body may take so long, and one second more
  std::uint64_t body_pace = 1'024;     // for so many bytes that came
  Duration answer = seconds(120);      // from the handler, or between two pieces of its answer
  Duration write_stall = seconds(30);  // without a byte of the answer being taken
  Duration linger = seconds(2);        // reading on after the last answer, so that it is not lost
};

}  // namespace lockstep::http
