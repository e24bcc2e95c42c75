#include "launcher/words/lost_peer.h"

#include <fmt/format.h>

namespace lockstep::words {

namespace {

std::string end_text(const RankEnd& end) {
  if (!end.started) return fmt::format("rank {} had never started", end.rank);
  if (end.signal != 0)
    return fmt::format("rank {} had been killed by signal {}", end.rank, end.signal);
  return fmt::format("rank {} had exited with code {}", end.rank, end.exit_code);
}

}  // namespace

Said say(const LostConnection& lost, const About& about) {
  Said said;
  said.what = fmt::format("rank {} failed only after a connection of its own was closed", lost.rank);
  const std::string address = shown(lost.address);
  if (!address.empty()) said.what += fmt::format(": {}", address);
  const std::string node = lost.node_rank < 0 ? "" : node_name(about, lost.node_rank);
  if (!node.empty() && node != address)
    said.what += address.empty() ? ": to " + node : " is " + node;
  if (lost.end)
    said.what += fmt::format("{} {}", node.empty() && address.empty() ? ":" : ", where",
                             end_text(*lost.end));
  else if (lost.left)
    said.what += ", whose ranks had all exited with code 0";
  if (lost.end && lost.end->rank != lost.rank)
    said.remedy = fmt::format("look at the rank that ended first: `lockstep job logs {} --rank {}`",
                              shown(about.job), lost.end->rank);
  return said;
}

}  // namespace lockstep::words
