#include "common/transfer/swarm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/transfer/swarm_impl.h"
#include "common/wire/messages/bulk.h"

namespace lockstep::transfer {

namespace {

constexpr std::uint64_t kBytesPerAsk = 4u << 20;  // a part of a large blob; more requests follow
constexpr Duration kTick = milliseconds(50);
constexpr Duration kFindEvery = milliseconds(500);
// A unit that is begun at the launcher is fetched from it to the end. So large units are not begun
// before the other nodes of the gang are known, for at most this time.
constexpr std::uint64_t kLargeUnitBytes = 4u << 20;
constexpr Duration kGatherFor = seconds(1);
constexpr Duration kGatherEvery = milliseconds(100);
constexpr Duration kStoodStill = seconds(1);  // longer than any turn of the loop
constexpr Duration kFarewell = seconds(1);    // how long the launcher has to take the report
constexpr std::size_t kMaxFaultText = 1'000;

Instant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

// The peer sent wrong data; every other error is this node's own.
bool is_wrong(const Error& error) {
  return error.code == ErrorCode::corrupt || error.code == ErrorCode::invalid_argument;
}

}  // namespace

Swarm::Swarm(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
             const SwarmSite& site, const OnProgress& progress, const TransferOptions& options,
             Origin* origin, std::optional<Digest> lock)
    : root_(root),
      into_(into),
      site_(site),
      on_progress_(progress),
      options_(options),
      lock_(lock),
      origin_(origin) {
  add(kLauncher, std::make_unique<io::ClientSocket>(std::move(launcher)), "");
}

Swarm::~Swarm() {
  site_.fetch_progress.end(root_);
  for (auto& [id, source] : sources_) {
    loop_.unwatch_socket(source.socket->handle());
    if (id != kLauncher) into_.abandon(source.uploader);
  }
}

void Swarm::add(NodeId id, std::unique_ptr<io::ClientSocket> socket, std::string uploader) {
  loop_.watch_socket(socket->handle(), [] {});
  sources_[id] = {std::move(socket), std::move(uploader)};
}

// ---- asking ------------------------------------------------------------------------------------

void Swarm::request(NodeId to, BulkMessage body, std::optional<std::size_t> unit,
                    std::uint64_t offset) {
  Request& made = requests_[++next_sequence_];
  made.to = to;
  made.body = std::move(body);
  made.unit = unit;
  made.offset = offset;
}

void Swarm::find_peers() {
  find_at_ = steady_now() + (is_gathering_ ? kGatherEvery : kFindEvery);
  requests_.erase(finding_);
  request(kLauncher, FindPeers{root_, site_.port, lock_});
  finding_ = next_sequence_;
}

void Swarm::dial_new_peers() {
  for (const auto& [id, peer] : plan_->peers()) {
    if (!peer.fault.empty() || sources_.count(id) != 0) continue;
    auto socket =
        io::ClientSocket::connect(site_.transport, peer.who.endpoint, peer.who.key, site_.keys,
                                  {.max_message_bytes = 2 * kMaxBulkMessageBytes});
    if (!socket) {
      plan_->drop(id, socket.error().message, false);
      continue;
    }
    add(id, std::make_unique<io::ClientSocket>(*std::move(socket)), peer.who.key.value);
  }
}

void Swarm::ask(const FetchPlan::Ask& ask) {
  if (ask.from == kLauncher && origin_ != nullptr) return ask_origin(ask.unit);
  const TreeUnit& unit = units_[ask.unit];
  if (unit.bytes > kUnitBytes && unit.blobs.size() == 1) return ask_part(ask.from, ask.unit, 0);
  GetBlobs get;
  get.has_other_sources = true;
  get.root = root_;
  for (const auto& blob : unit.blobs)
    if (!into_.has(blob.digest)) get.digests.push_back(blob.digest);
  request(ask.from, std::move(get), ask.unit);
}

void Swarm::ask_part(NodeId from, std::size_t unit, std::uint64_t offset) {
  request(from, GetBlobs{{units_[unit].blobs[0].digest}, offset, kBytesPerAsk, true, root_}, unit,
          offset);
}

// Messages without a connection stay, and are tried again in the next turn.
void Swarm::send_what_waits() {
  const Instant now = steady_now();
  for (auto& [sequence, request] : requests_) {
    if (request.is_sent || now < request.send_at) continue;
    const auto source = sources_.find(request.to);
    if (source == sources_.end()) continue;
    request.is_sent = bool(source->second.socket->send(
        wire::encode(BulkEnvelope{wire::kBulkVersion, sequence, 0, request.body})));
  }
}

void Swarm::repeat_all() {
  for (auto& [sequence, request] : requests_)
    if (request.to == kLauncher) request.is_sent = false;
}

// ---- answers -----------------------------------------------------------------------------------

Status Swarm::receive() {
  std::vector<NodeId> all;
  for (const auto& [id, source] : sources_) all.push_back(id);
  for (const NodeId id : all) TRY(receive_from(id));
  return {};
}

Status Swarm::receive_from(NodeId id) {
  // A few per turn, so that no source waits for another.
  for (int i = 0; i < 4; ++i) {
    const auto source = sources_.find(id);
    if (source == sources_.end()) return {};
    const auto bytes = source->second.socket->receive();
    if (!bytes) return {};
    auto envelope = wire::decode_bulk(*bytes);
    if (!envelope && id == kLauncher) return envelope.error().within("the launcher's bulk socket");
    if (!envelope) {
      drop(id, envelope.error().message, true);
      return {};
    }
    TRY(take(id, envelope->reply_to, envelope->body));
  }
  return {};
}

Status Swarm::take(NodeId from, std::uint64_t sequence, BulkMessage& answer) {
  const auto found = requests_.find(sequence);
  if (found == requests_.end() || found->second.to != from) return {};  // late or repeated
  if (auto* data = std::get_if<BlobData>(&answer)) return take_data(from, sequence, *data);
  if (const auto* refusal = std::get_if<BulkRefused>(&answer))
    return refused(from, sequence, *refusal);
  if (const auto* units = std::get_if<UnitsReply>(&answer)) {
    plan_->heard(from, *units, steady_now());
    requests_.erase(found);
  } else if (const auto* reply = std::get_if<FindPeersReply>(&answer)) {
    if (sequence == finding_) plan_->told(*reply, steady_now());
    is_told_ = true;
    if (plan_->peers().size() >= reply->expected) is_gathering_ = false;
    requests_.erase(found);
  }
  return {};
}

Status Swarm::take_data(NodeId from, std::uint64_t sequence, BlobData& data) {
  const Request& request = requests_.at(sequence);
  if (!request.unit) return {};
  const TreeUnit& unit = units_[*request.unit];
  std::uint64_t bytes = 0;
  for (const BlobPiece& piece : data.pieces) {
    const Status taken = put(from, unit, piece);
    if (!taken && from != kLauncher && is_wrong(taken.error())) {
      drop(from, taken.error().message, true);
      return {};
    }
    if (!taken) return taken.error().within(from == kLauncher ? "from the launcher" : "the cache");
    bytes += std::min<std::uint64_t>(piece.total_size - piece.offset, kMaxPieceBytes);
  }
  const Instant now = steady_now();
  if (from == kLauncher) launcher_heard_ = now;
  came(from, bytes, now);
  return data.last ? end_of(from, sequence) : Status();
}

void Swarm::came(NodeId from, std::uint64_t bytes, Instant now) {
  plan_->arrived(from, bytes, now);
  site_.fetch_progress.got(root_, bytes);
  progress_.done_bytes = std::min(progress_.done_bytes + bytes, progress_.total_bytes);
}

bool Swarm::is_here(const TreeUnit& unit) const {
  return std::all_of(unit.blobs.begin(), unit.blobs.end(),
                     [this](const auto& blob) { return into_.has(blob.digest); });
}

void Swarm::finish(std::size_t unit) {
  plan_->finished(unit, steady_now());
  site_.fetch_progress.has(root_, unit);
}

Status Swarm::put(NodeId from, const TreeUnit& unit, const BlobPiece& piece) {
  const auto wanted = std::find_if(unit.blobs.begin(), unit.blobs.end(), [&](const auto& blob) {
    return blob.digest == piece.digest && blob.size == piece.total_size;
  });
  if (wanted == unit.blobs.end()) {
    return make_error(ErrorCode::corrupt, fmt::format("blob {} of {} bytes was not requested",
                                                      piece.digest.hex(), piece.total_size));
  }
  auto put = into_.put_piece(piece, sources_.at(from).uploader);
  if (!put) return put.error();
  return {};
}

// Checks, when everything that was requested was sent, whether it is here.
Status Swarm::end_of(NodeId from, std::uint64_t sequence) {
  const Request request = std::move(requests_.extract(sequence).mapped());
  const TreeUnit& unit = units_[*request.unit];
  if (is_here(unit)) {
    finish(*request.unit);
    return {};
  }
  const bool is_part = unit.bytes > kUnitBytes && unit.blobs.size() == 1;
  const std::uint64_t next = request.offset + kBytesPerAsk;
  if (is_part && next < unit.bytes) {
    ask_part(from, *request.unit, next);
    return {};
  }
  if (from != kLauncher) {
    plan_->lacking(from, *request.unit, steady_now());
    return {};
  }
  return make_error(ErrorCode::not_found,
                    fmt::format("the launcher does not have all blobs that are needed here (one of "
                                "them is {})",
                                unit.blobs[0].digest.hex()));
}

Status Swarm::refused(NodeId from, std::uint64_t sequence, const BulkRefused& refusal) {
  const auto found = requests_.find(sequence);
  Request& request = found->second;
  const Instant now = steady_now();
  if (from == kLauncher && request.unit) launcher_heard_ = now;
  if (!refusal.for_now && from != kLauncher) {
    drop(from, "it refused: " + refusal.message, false);
    return {};
  }
  if (!refusal.for_now && request.unit)
    return make_error(ErrorCode::conflict, "the launcher refused: " + refusal.message);
  if (request.unit && request.offset > 0) {  // the rest is requested from the same source
    plan_->arrived(from, 0, now);
    request.is_sent = false;
    request.send_at = now + 2 * kTick;
    return {};
  }
  if (request.unit) plan_->busy(from, *request.unit, now);
  if (sequence == finding_) is_told_ = true;
  requests_.erase(found);
  return {};
}

// ---- the whole ---------------------------------------------------------------------------------

void Swarm::drop(NodeId peer, const std::string& fault, bool gave_wrong_data) {
  plan_->drop(peer, fault.substr(0, kMaxFaultText), gave_wrong_data);
}

Status Swarm::check_launcher(Instant now) {
  const bool is_asked = std::any_of(requests_.begin(), requests_.end(), [](const auto& at) {
    return at.second.to == kLauncher && at.second.unit;
  });
  if (!is_asked) launcher_heard_ = now;
  if (now - launcher_heard_ < options_.give_up_after) return {};
  return make_error(ErrorCode::unavailable,
                    fmt::format("the launcher did not answer for {} ({} requests open)",
                                format_duration(options_.give_up_after), requests_.size()));
}

void Swarm::tell() {
  progress_.peers = plan_->senders();
  if (on_progress_) on_progress_(progress_);
}

Status Swarm::run(std::vector<TreeUnit> units, const std::set<Digest>* wanted) {
  units_ = std::move(units);
  std::vector<bool> here, not_asked;
  for (const TreeUnit& unit : units_) {
    const bool is_wanted = wanted == nullptr ||
                           std::any_of(unit.blobs.begin(), unit.blobs.end(), [&](const auto& blob) {
                             return wanted->count(blob.digest) != 0;
                           });
    here.push_back(is_here(unit));
    not_asked.push_back(here.back() || !is_wanted);
    if (not_asked.back()) continue;
    for (const auto& blob : unit.blobs)
      progress_.total_bytes += into_.has(blob.digest) ? 0 : blob.size;
  }
  site_.fetch_progress.begin(root_, here);
  plan_ = std::make_unique<FetchPlan>(std::move(not_asked), steady_now(), site_.limits);
  launcher_heard_ = steady_now();
  TRY(sources_.at(kLauncher).socket->watch_link(loop_, [this](io::ClientSocket::Link link) {
    if (link == io::ClientSocket::Link::up && std::exchange(was_down_, false)) repeat_all();
    if (link != io::ClientSocket::Link::up) was_down_ = true;
  }));
  const Status fetched = loop();
  report(fetched && std::all_of(units_.begin(), units_.end(),
                                [this](const TreeUnit& unit) { return is_here(unit); }));
  return fetched;
}

Status Swarm::loop() {
  const Instant start = steady_now();
  Instant last = start;
  is_gathering_ = std::any_of(units_.begin(), units_.end(), [this](const TreeUnit& unit) {
    return unit.bytes >= kLargeUnitBytes && !is_here(unit);
  });
  find_peers();
  tell();
  while (!plan_->done() && !is_over(steady_now())) {
    TRY(receive());
    const Instant now = steady_now();
    if (origin_ != nullptr) TRY(hear_origin(now));
    if (now - last > kStoodStill) plan_->woke(now);
    last = now;
    drop_silent(now);
    forget_dropped();
    dial_new_peers();
    if (now >= find_at_) find_peers();
    for (const NodeId peer : plan_->questions(now)) request(peer, AskUnits{root_});
    if (now - start >= kGatherFor) is_gathering_ = false;
    // The peers must be known first. Otherwise the first units would always come from the launcher.
    if ((is_told_ || now - start >= kFindEvery) && !is_gathering_)
      for (const FetchPlan::Ask& one : plan_->next(now)) ask(one);
    send_what_waits();
    TRY(check_launcher(now));
    tell();
    if (!plan_->done()) loop_.turn(kTick);
  }
  return {};
}

void Swarm::drop_silent(Instant now) {
  for (const NodeId peer : plan_->silent(now))
    drop(peer, "it was silent for " + format_duration(site_.limits.timeout), false);
}

void Swarm::forget_dropped() {
  for (const auto& [id, peer] : plan_->peers()) {
    const auto source = sources_.find(id);
    if (peer.fault.empty() || source == sources_.end()) continue;
    loop_.unwatch_socket(source->second.socket->handle());
    into_.abandon(source->second.uploader);
    sources_.erase(source);
    std::erase_if(requests_,
                  [peer = id](const auto& request) { return request.second.to == peer; });
  }
}

// The report is only for the launcher's log and `node show`.
void Swarm::report(bool whole) {
  FetchReport said{root_, whole, origin_ == nullptr ? plan_->from_launcher_bytes() : 0, {}, lock_};
  for (const auto& [id, peer] : plan_->peers()) {
    if (said.peers.size() >= kMaxBlobPeers) break;
    if (peer.given_bytes > 0 || peer.gave_wrong_data)
      said.peers.push_back({id, peer.given_bytes, peer.fault, peer.gave_wrong_data});
  }
  requests_.clear();
  request(kLauncher, std::move(said));
  const std::uint64_t reporting = next_sequence_;
  const Instant until = steady_now() + kFarewell;
  while (requests_.count(reporting) != 0 && steady_now() < until) {
    send_what_waits();
    loop_.turn(kTick);
    if (!receive_from(kLauncher)) return;
  }
}

}  // namespace lockstep::transfer
