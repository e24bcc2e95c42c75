// The bulk messages by which nodes find and ask each other.

#include "common/wire/messages/bulk_codec.h"

namespace lockstep::pb {

void to_wire(const lockstep::FindPeers& from, FindPeers* to) {
  to->set_root(std::string(from.root.view()));
  to->set_port(from.port);
  if (from.lock) to->set_lock(std::string(from.lock->view()));
}

Status from_wire(const FindPeers& from, lockstep::FindPeers* to) {
  TRY(read_digest(from.root(), "find_peers.root", &to->root));
  TRY(read_optional_digest(from.lock(), "find_peers.lock", &to->lock));
  return read_port(from.port(), "find_peers.port", &to->port);
}

void to_wire(const lockstep::BlobPeer& from, BlobPeer* to) {
  to->set_node(from.node.value);
  to->set_name(from.name);
  to->set_endpoint(from.endpoint);
  to->set_key(from.key.value);
  to->set_fetching(from.fetching);
  to->set_core(from.core);
}

Status from_wire(const BlobPeer& from, lockstep::BlobPeer* to) {
  to->node = NodeId(from.node());
  TRY(read_text(from.name(), "peer.name", &to->name));
  TRY(read_text(from.endpoint(), "peer.endpoint", &to->endpoint));
  TRY(read_key(from.key(), "peer.key", &to->key));
  to->fetching = from.fetching();
  to->core = from.core();
  return {};
}

void to_wire(const lockstep::FindPeersReply& from, FindPeersReply* to) {
  to->set_self(from.self.value);
  to->set_core(from.core);
  write_list(from.peers, to->mutable_peers());
  to->set_expected(from.expected);
}

Status from_wire(const FindPeersReply& from, lockstep::FindPeersReply* to) {
  to->self = NodeId(from.self());
  to->expected = from.expected();
  to->core = from.core();
  return read_list(from.peers(), kMaxBlobPeers, "peers", &to->peers);
}

void to_wire(const lockstep::FetchReport::Share& from, PeerShare* to) {
  to->set_node(from.node.value);
  to->set_bytes(from.bytes);
  to->set_fault(from.fault);
  to->set_lied(from.gave_wrong_data);
}

Status from_wire(const PeerShare& from, lockstep::FetchReport::Share* to) {
  to->node = NodeId(from.node());
  to->bytes = from.bytes();
  to->gave_wrong_data = from.lied();
  return read_text(from.fault(), "share.fault", &to->fault, 4096);
}

void to_wire(const lockstep::FetchReport& from, FetchReport* to) {
  to->set_root(std::string(from.root.view()));
  to->set_whole(from.whole);
  to->set_from_launcher_bytes(from.from_launcher_bytes);
  write_list(from.peers, to->mutable_peers());
  if (from.lock) to->set_lock(std::string(from.lock->view()));
}

Status from_wire(const FetchReport& from, lockstep::FetchReport* to) {
  TRY(read_digest(from.root(), "fetch.root", &to->root));
  TRY(read_optional_digest(from.lock(), "fetch.lock", &to->lock));
  to->whole = from.whole();
  to->from_launcher_bytes = from.from_launcher_bytes();
  return read_list(from.peers(), kMaxBlobPeers, "fetch.peers", &to->peers);
}

void to_wire(const lockstep::AskUnits& from, AskUnits* to) {
  to->set_root(std::string(from.root.view()));
}

Status from_wire(const AskUnits& from, lockstep::AskUnits* to) {
  return read_digest(from.root(), "ask_units.root", &to->root);
}

void to_wire(const lockstep::UnitsReply& from, UnitsReply* to) {
  to->set_whole(from.whole);
  to->set_fetching(from.fetching);
  to->set_done_bytes(from.done_bytes);
  to->set_have(from.have);
}

Status from_wire(const UnitsReply& from, lockstep::UnitsReply* to) {
  to->whole = from.whole();
  to->fetching = from.fetching();
  to->done_bytes = from.done_bytes();
  return read_text(from.have(), "units.have", &to->have, kMaxUnitBytes);
}

}  // namespace lockstep::pb
