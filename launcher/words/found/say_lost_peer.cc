#include "launcher/words/found/say_lost_peer.h"

#include <fmt/format.h>

namespace lockstep::words {

namespace {

std::string end_text(const RankEnd& end) {
  if (!end.started) return fmt::format("rank {} had never started", end.rank);
  if (end.signal != 0)
    return fmt::format("rank {} had been killed by signal {}", end.rank, end.signal);
  return fmt::format("rank {} had exited with code {}", end.rank, end.exit_code);
}

// "10.93.0.4 is n3", "n3" or "10.93.0.4"; "": the peer is unknown.
std::string peer_text(const LostPeer& peer, const About& about) {
  const std::string address = shown(peer.address);
  if (peer.node_rank < 0) return address;
  const std::string node = node_name(about, peer.node_rank);
  return address.empty() || address == node ? node : fmt::format("{} is {}", address, node);
}

}  // namespace

Said say(const LostPeer& peer, int rank, const About& about) {
  Said said;
  said.what = fmt::format("rank {} failed after a connection of its own was closed", rank);
  const std::string of = peer_text(peer, about);
  if (!of.empty()) said.what += ": " + of;
  const std::string_view where = of.empty() ? "; " : ", where ";
  if (peer.end)
    said.what += std::string(where) + end_text(*peer.end);
  else if (peer.left)
    said.what += std::string(where) + "all ranks had exited with code 0";
  if (peer.end && peer.end->rank != rank)
    said.remedy =
        fmt::format("look at the rank that ended before it: `lockstep job logs {} --rank {}`{}",
                    shown(about.job), peer.end->rank,
                    peer.end->started && peer.end->signal == 0 && peer.end->exit_code == 0
                        ? "; it must not end before the last collective (had it fewer batches?)"
                        : "");
  return said;
}

}  // namespace lockstep::words
