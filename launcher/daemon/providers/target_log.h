#pragma once
// The actions and output of providers, in one file for each target, as lines "TIME VERB MACHINE
// text". At kMaxFileBytes the file becomes TARGET.log.old, which replaces the older one. Lines may
// be lost without an error: a full disk must not stop a call.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "launcher/home/layout.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

class ProviderLog {
 public:
  static constexpr std::size_t kMaxFileBytes = 4u << 20;
  static constexpr std::size_t kMaxLineBytes = 4u << 10;  // the most bytes of a line's text

  explicit ProviderLog(const LauncherHome& home) : home_(home) {}

  // Adds a line. The text becomes one_line(). `machine` may be "".
  void add(const std::string& target, Instant now, std::string_view verb, std::string_view machine,
           std::string_view text);
  // The newest lines, at most kMaxComputeLogBytes; 0 lines: as many as fit into that. "": there is
  // no log. `target` must be a valid name.
  std::string newest(const std::string& target, std::int64_t lines) const;

 private:
  const LauncherHome& home_;
};

// The event as a line of the log.
std::string to_log(const ProviderEvent& event);

// Makes one printable line for people; bytes beyond `limit` are cut off.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace lockstep::launcher
