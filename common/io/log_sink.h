#pragma once
// What a daemon logs holds words of others (names, paths, messages of programs), and operators read
// it on terminals: each message goes through printable(), and lines after its first are indented,
// so that none of them looks like a message. All daemons log in one format, in UTC as all times
// are: "2026-01-31T12:00:00.000Z warning text".

#include <spdlog/sinks/sink.h>

#include <memory>

namespace lockstep::io {

spdlog::sink_ptr printable_sink(spdlog::sink_ptr sink);

}  // namespace lockstep::io
