#pragma once
// The text form of CURVE keys: 40 characters of Z85 (ZeroMQ RFC 32). Private to common/io.

#include <string>

namespace lockstep::io {

bool is_z85_key(const std::string& text);

}  // namespace lockstep::io
