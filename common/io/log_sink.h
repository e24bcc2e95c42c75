#pragma once
// The format of all daemons' logs. Messages contain foreign texts (names, paths, messages of
// programs), and operators read them on terminals. So each message goes through printable(), and
// its lines after the first are indented, so that none of them looks like another message. Times
// are in UTC: "2026-01-31T12:00:00.000Z warning text".

#include <spdlog/sinks/sink.h>

#include <memory>

namespace lockstep::io {

spdlog::sink_ptr printable_sink(spdlog::sink_ptr sink);

}  // namespace lockstep::io
