#include "runner/watch/sockets/peer_sockets.h"

#include <algorithm>
#include <utility>

namespace lockstep::runner {

SocketTable::SocketTable(TcpSockets sockets, const PeerFacts& facts)
    : sockets_(std::move(sockets)), store_port_(facts.store_port), ras_port_(facts.ras_port) {
  for (const std::string& text : facts.addresses)
    if (const auto address = tcp_address_from(text)) addresses_.insert(*address);
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    const TcpSocket& socket = sockets_[i];
    if (socket.inode != 0) by_inode_[socket.inode] = i;
    if (socket.state != TcpState::listens) by_ends_[{socket.near, socket.far}] = i;
  }
}

const TcpSocket* SocketTable::by_inode(std::uint64_t inode) const {
  const auto found = by_inode_.find(inode);
  return found == by_inode_.end() ? nullptr : &sockets_[found->second];
}

const TcpSocket* SocketTable::other_end(const TcpSocket& socket) const {
  const auto found = by_ends_.find({socket.far, socket.near});
  return found == by_ends_.end() ? nullptr : &sockets_[found->second];
}

bool SocketTable::is_store(const TcpSocket& socket) const {
  return store_port_ != 0 && (socket.near.port == store_port_ || socket.far.port == store_port_);
}

bool SocketTable::leads_to_gang(const TcpSocket& socket) const {
  return addresses_.count(socket.far.address) > 0;
}

bool SocketTable::may_be_peer(const TcpSocket& socket) const {
  if (socket.state == TcpState::listens || is_store(socket)) return false;
  if (ras_port_ != 0 && (socket.near.port == ras_port_ || socket.far.port == ras_port_))
    return false;
  return leads_to_gang(socket) || other_end(socket) != nullptr;
}

// ---- owners -------------------------------------------------------------------------------------

namespace {

bool is_worth_an_owner(const SocketTable& table, const TcpSocket& socket) {
  return socket.inode != 0 && (table.may_be_peer(socket) || table.is_store(socket));
}

}  // namespace

bool SocketOwners::wants_look(const SocketTable& table) const {
  return std::any_of(table.all().begin(), table.all().end(), [&](const TcpSocket& socket) {
    return is_worth_an_owner(table, socket) && owners_.count(socket.inode) == 0;
  });
}

void SocketOwners::found(std::uint64_t inode, int owner) {
  if (inode != 0) owners_[inode] = owner;
}

void SocketOwners::settle(const SocketTable& table) {
  std::erase_if(owners_, [&](const auto& each) { return table.by_inode(each.first) == nullptr; });
  for (const TcpSocket& socket : table.all())
    if (is_worth_an_owner(table, socket)) owners_.emplace(socket.inode, kNobody);
}

int SocketOwners::owner(std::uint64_t inode) const {
  const auto found = owners_.find(inode);
  return found == owners_.end() ? kNobody : found->second;
}

// ---- totals -------------------------------------------------------------------------------------

namespace {

std::int64_t signed_count(std::uint64_t count) { return static_cast<std::int64_t>(count); }

}  // namespace

// Bytes of sockets that have closed go on counting.
void PeerCounter::add_closed(const std::map<std::uint64_t, Carried>& now, PeerTotals& totals) {
  for (const auto& [inode, was] : last_) {
    if (now.count(inode) > 0) continue;
    totals.any_opened = true;
    closed_.acked += was.acked;
    closed_.received += was.received;
    closed_.retransmits += was.retransmits;
  }
  totals.acked += closed_.acked;
  totals.received += closed_.received;
  totals.retransmits += closed_.retransmits;
}

PeerTotals PeerCounter::count(const std::vector<const TcpSocket*>& sockets) {
  PeerTotals totals;
  totals.has_info = true;
  std::map<std::uint64_t, Carried> now;
  std::uint32_t most_unacked = 0;
  for (const TcpSocket* socket : sockets) {
    const Carried carried{signed_count(socket->acked), signed_count(socket->received),
                          signed_count(socket->retransmits)};
    const auto before = last_.find(socket->inode);
    if (before == last_.end()) totals.any_opened = true;
    const Carried was = before == last_.end() ? Carried{} : before->second;
    totals.most_moved =
        std::max(totals.most_moved, carried.acked - was.acked + carried.received - was.received);
    now[socket->inode] = carried;
    ++totals.sockets;
    totals.acked += carried.acked;
    totals.received += carried.received;
    totals.retransmits += carried.retransmits;
    totals.unread += signed_count(socket->unread);
    totals.unacked += signed_count(socket->unacked);
    totals.has_info = totals.has_info && socket->has_info;
    if (socket->unacked > most_unacked) {
      most_unacked = socket->unacked;
      totals.unacked_by = to_string(socket->far.address);
    }
    if (socket->has_info)
      totals.since_received =
          std::min(totals.since_received.value_or(Duration::max()), socket->since_received);
  }
  add_closed(now, totals);
  last_ = std::move(now);
  return totals;
}

// ---- by rank ------------------------------------------------------------------------------------

std::map<int, std::vector<const TcpSocket*>> peers_by_rank(const SocketTable& table,
                                                           const SocketOwners& owners) {
  std::map<int, std::vector<const TcpSocket*>> found;
  for (const TcpSocket& socket : table.all()) {
    const int owner = owners.owner(socket.inode);
    if (owner < 0 || !table.may_be_peer(socket)) continue;
    const TcpSocket* const other = table.other_end(socket);
    const int other_owner = other == nullptr ? SocketOwners::kNobody : owners.owner(other->inode);
    if (other_owner == owner || other_owner == SocketOwners::kPmixServer) continue;
    if (other_owner < 0 && !table.leads_to_gang(socket)) continue;
    found[owner].push_back(&socket);
  }
  return found;
}

std::map<int, int> claims_by_rank(const SocketTable& table, const SocketOwners& owners) {
  std::map<int, int> claims;
  for (const TcpSocket& socket : table.all()) {
    const int owner = owners.owner(socket.inode);
    const TcpSocket* const other = owner < 0 ? nullptr : table.other_end(socket);
    if (other == nullptr || socket.state != TcpState::established) continue;
    if (owners.owner(other->inode) == SocketOwners::kPmixServer) ++claims[owner];
  }
  return claims;
}

std::set<int> ranks_at_store(const SocketTable& table, const SocketOwners& owners) {
  std::set<int> found;
  for (const TcpSocket& socket : table.all()) {
    const bool is_there =
        socket.state == TcpState::established || socket.state == TcpState::listens;
    if (is_there && table.is_store(socket) && owners.owner(socket.inode) >= 0)
      found.insert(owners.owner(socket.inode));
  }
  return found;
}

}  // namespace lockstep::runner
