#include "launcher/daemon/attach/open_attachments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/messages/no_such_job.h"
#include "launcher/core/access/users.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kKeyGone = "this key is not authorised any more";

std::string where_of(const State& state, const AttachTarget& target, const AttachOpen& opening) {
  const std::string node = state.node_name(target.node);
  const bool of_node = std::holds_alternative<AttachSignal>(opening.order) ||
                       std::holds_alternative<AttachStacks>(opening.order);
  if (of_node && !opening.rank) return fmt::format("the ranks on {}", node);
  return fmt::format("rank {} on {}", opening.rank.value_or(target.first_rank), node);
}

Instant not_before(Instant now, Instant then) { return std::max(now, then); }

}  // namespace

// ---- frames of clients -------------------------------------------------------------------------

struct ClientFrames {
  Attachments& table;
  const Attachments::Sender& from;
  Attachments::Table::iterator known;
  Instant now;

  void operator()(AttachData& data) const {
    if (data.stream != AttachStream::input) return table.drop();
    pass(std::move(data));
  }
  void operator()(AttachTaken& taken) const {
    if (taken.stream == AttachStream::input) return table.drop();
    pass(taken);
  }
  void operator()(AttachResize& resize) const { pass(resize); }
  void operator()(AttachNotify& notify) const { pass(notify); }
  void operator()(AttachAlive& alive) const { pass(alive); }
  // Handles a close. The node may have no bulk connection yet. If the close does not reach it, the
  // attachment goes on for a minute.
  void operator()(AttachClose& close) const {
    Attachments::Open& one = known->second;
    if (one.agent.empty())
      table.ports_.tell_node(one.target.node, AttachWanted{AttachFrame{known->first, close}});
    else
      pass(close);
    if (!one.has_ended) table.record_end(one, "closed by its user", now);
    table.forget(known);
  }
  template <typename Other>
  void operator()(Other&) const {
    table.drop();  // only runners send these, or nobody does
  }
  void pass(AttachBody body) const {
    table.pass_to_node(known->second, known->first, std::move(body));
  }
};

void Attachments::from_client(const Sender& from, AttachFrame frame, Instant now) {
  if (auto* opening = std::get_if<AttachOpen>(&frame.body))
    return open(from, frame.attachment, std::move(*opening), now);
  const auto known = open_.find(frame.attachment);
  if (known == open_.end()) return drop();
  const auto client = ports_.client_of(from.key);
  const auto* user = client ? std::get_if<UserCaller>(&*client) : nullptr;
  if (user == nullptr || user->name != known->second.user)
    return drop_foreign(client ? name_of(*client) : "a key without a user", now);
  // The frame is from a connection that the user has replaced by opening the attachment again.
  if (known->second.client != from.peer) return drop();
  known->second.heard = not_before(now, known->second.heard);
  std::visit(ClientFrames{*this, from, known, now}, frame.body);
}

// ---- openings ----------------------------------------------------------------------------------

void Attachments::open(const Sender& from, const AttachId& id, AttachOpen opening, Instant now) {
  const auto client = ports_.client_of(from.key);
  if (!client) return refuse(from, id, opening, {kKeyGone});
  const auto known = open_.find(id);
  const auto* user = std::get_if<UserCaller>(&*client);
  if (known != open_.end() && (user == nullptr || user->name != known->second.user))
    return drop_foreign(name_of(*client), now);
  const State& state = ports_.core().state();
  const Job* job = state.job(opening.job);
  if (job == nullptr) return refuse(from, id, opening, {no_such_job(opening.job).message});
  const Decision decision =
      may(state.principals(), *client, Permission::attach_job, object_of(*job));
  if (!decision.allowed) return refuse(from, id, opening, {decision.why});
  if (known != open_.end()) return open_again(known, from, std::move(opening), now);
  const auto found = find_target(ports_.core(), opening);
  if (const auto* none = std::get_if<NoAttachTarget>(&found))
    return refuse(from, id, opening, *none);
  if (auto why = why_not(owner_of(*client), now)) return refuse(from, id, opening, *std::move(why));
  Open one;
  one.user = owner_of(*client);
  one.key = from.key;
  one.address = from.address;
  one.client = from.peer;
  one.target = std::get<AttachTarget>(found);
  one.verb = verb_of(opening.order);
  one.words = words_of(opening.order);
  one.opened = one.heard = now;
  one.has_begun = opening.again;
  one.where = where_of(state, one.target, opening);
  record_opening(one, opening.again);
  tell_signal(one, opening);
  ++of_user_[one.user];
  send_opening(open_.emplace(id, std::move(one)).first->second, id, std::move(opening));
}

// Opens an attachment again for the same user, perhaps over another connection or with another key.
// Nothing starts that is not in the audit log.
void Attachments::open_again(Table::iterator known, const Sender& from, AttachOpen opening,
                             Instant now) {
  Open& one = known->second;
  const AttachId& id = known->first;
  const AttemptId& attempt = one.target.attempt;
  const bool is_other = opening.job != attempt.job ||
                        (opening.attempt.number != 0 && opening.attempt != attempt) ||
                        verb_of(opening.order) != one.verb || words_of(opening.order) != one.words;
  if (is_other)
    return refuse(from, id, opening,
                  {fmt::format("this attachment is already open: {} in {}; open another one",
                               one.words, to_string(attempt))});
  one.client = from.peer;
  one.key = from.key;
  one.address = from.address;
  one.heard = not_before(now, one.heard);
  if (const std::string why = why_ended(one); !why.empty()) {
    end(known, why, now);
    return;
  }
  if (!repairs_.take(one.user, now)) return drop();
  const Core& core = ports_.core();
  if (core.liveness(one.target.node) != Liveness::alive)
    return pass_to_client(
        one, id,
        AttachRefused{fmt::format("node {} has not been heard of lately; waiting for it",
                                  core.state().node_name(one.target.node)),
                      true});
  opening.again = opening.again || one.has_begun;
  send_opening(one, id, std::move(opening));
}

// Sends an opening over the control connection, because the bulk connection may be broken without
// notice.
void Attachments::send_opening(const Open& one, const AttachId& id, AttachOpen opening) {
  opening.attempt = one.target.attempt;
  opening.node_rank = one.target.node_rank;
  ports_.tell_node(one.target.node, AttachWanted{AttachFrame{id, std::move(opening)}});
}

std::optional<NoAttachTarget> Attachments::why_not(const std::string& user, Instant now) {
  if (std::string stuck = ports_.why_not_recorded(); !stuck.empty())
    return NoAttachTarget{std::move(stuck), true};
  if (size_of(user) >= kMaxAttachmentsOfUser)
    return NoAttachTarget{fmt::format("user '{}' has {} attachments open, the most for one user; "
                                      "end one of them",
                                      user, kMaxAttachmentsOfUser),
                          true};
  if (open_.size() >= kMaxAttachments)
    return NoAttachTarget{fmt::format("{} attachments are open, the most for one launcher; try "
                                      "again when some have ended",
                                      kMaxAttachments),
                          true};
  if (!rate_.take(user, now))
    return NoAttachTarget{fmt::format("user '{}' opens attachments too fast; waiting", user), true};
  return std::nullopt;
}

void Attachments::refuse(const Sender& from, const AttachId& id, const AttachOpen& opening,
                         NoAttachTarget why) {
  if (!why.for_now) {
    AuditEntry entry;
    entry.who = name_of(ports_.client_of(from.key).value_or(Nobody{}));
    entry.key = from.key.value;
    entry.address = from.address;
    entry.what = verb_of(opening.order);
    entry.object = "job " + opening.job.value;
    entry.outcome = AuditOutcome::refused;
    entry.detail = why.why;
    if (const Job* job = ports_.core().state().job(opening.job)) entry.project = job->spec.project;
    ports_.record(std::move(entry));
  }
  ports_.send(from.peer, {id, AttachRefused{std::move(why.why), why.for_now}});
}

// ---- frames of nodes ---------------------------------------------------------------------------

struct NodeFrames {
  Attachments& table;
  Attachments::Table::iterator known;
  Instant now;

  // Passes on the answer, with the node, rank and attempt that the launcher chose.
  void operator()(AttachOpened& opened) const {
    const AttachTarget& target = known->second.target;
    opened.attempt = target.attempt;
    opened.node_rank = target.node_rank;
    opened.node = table.ports_.core().state().node_name(target.node);
    const int last = target.first_rank + std::max(target.ranks, 1) - 1;
    opened.rank = std::clamp(opened.rank, target.first_rank, last);
    known->second.has_begun = true;
    pass(std::move(opened));
  }
  void operator()(AttachData& data) const {
    if (data.stream == AttachStream::input) return table.drop();
    pass(std::move(data));
  }
  void operator()(AttachTaken& taken) const {
    if (taken.stream != AttachStream::input) return table.drop();
    pass(taken);
  }
  void operator()(AttachAlive& alive) const { pass(alive); }
  // Passes on the end, which is repeated with each opening until the client has closed.
  void operator()(AttachEnd& end) const {
    Attachments::Open& one = known->second;
    const std::string message = end.message.empty() ? "" : ": " + end.message;
    if (!std::exchange(one.has_ended, true))
      table.record_end(one, fmt::format("ended with code {}{}", end.code, message), now);
    pass(std::move(end));
  }
  void operator()(AttachRefused& refused) const {
    Attachments::Open& one = known->second;
    const bool for_now = refused.for_now;
    if (!for_now && !one.has_ended)
      table.record_end(one, "refused by its node: " + refused.message, now);
    pass(std::move(refused));
    if (!for_now) table.forget(known);
  }
  template <typename Other>
  void operator()(Other&) const {
    table.drop();  // only clients send these
  }
  void pass(AttachBody body) const {
    table.pass_to_client(known->second, known->first, std::move(body));
  }
};

void Attachments::from_node(NodeId node, const std::string& peer, AttachFrame frame, Instant now) {
  const auto known = open_.find(frame.attachment);
  if (known == open_.end()) return drop();
  if (known->second.target.node != node)
    return drop_foreign("node " + ports_.core().state().node_name(node), now);
  known->second.agent = peer;
  known->second.unanswered = 0;
  std::visit(NodeFrames{*this, known, now}, frame.body);
}

void Attachments::pass_to_client(const Open& one, const AttachId& id, AttachBody body) {
  ports_.send(one.client, {id, std::move(body)});
}

// Passes a frame to a node. The launcher's queue for a node has no limit in bytes, and a hostile
// client may ignore its window.
void Attachments::pass_to_node(Open& one, const AttachId& id, AttachBody body) {
  constexpr std::size_t kFrame = 16;
  const auto* data = std::get_if<AttachData>(&body);
  const std::size_t bytes = kFrame + (data == nullptr ? 0 : data->bytes.size());
  const bool is_close = std::holds_alternative<AttachClose>(body);
  const bool is_too_much = one.unanswered + bytes > kMaxUnansweredAttachBytes && !is_close;
  if (one.agent.empty() || is_too_much) return drop();
  one.unanswered += bytes;
  ports_.send(one.agent, {id, std::move(body)});
}

// ---- ends --------------------------------------------------------------------------------------

std::string Attachments::why_ended(const Open& one) const {
  const auto client = ports_.client_of(one.key);
  const auto* user = client ? std::get_if<UserCaller>(&*client) : nullptr;
  if (user == nullptr || user->name != one.user) return kKeyGone;
  const State& state = ports_.core().state();
  if (std::string why = why_no_more(state, one.target); !why.empty()) return why;
  const Job* job = state.job(one.target.attempt.job);
  if (job == nullptr) return fmt::format("job {} was deleted", one.target.attempt.job.value);
  return may(state.principals(), *client, Permission::attach_job, object_of(*job)).why;
}

void Attachments::look_again(Instant now) {
  for (auto it = open_.begin(); it != open_.end();) {
    const Open& one = it->second;
    std::string why = why_ended(one);
    if (why.empty() && now - one.heard >= kAttachSilence)
      why =
          fmt::format("nothing was heard from its client for {}", format_duration(kAttachSilence));
    it = why.empty() ? std::next(it) : end(it, why, now);
  }
}

Attachments::Table::iterator Attachments::end(Table::iterator known, const std::string& why,
                                              Instant now) {
  const Open& one = known->second;
  ports_.tell_node(one.target.node, AttachWanted{AttachFrame{known->first, AttachClose{}}});
  pass_to_client(one, known->first, AttachRefused{why, false});
  if (!one.has_ended) record_end(one, "ended by the launcher: " + why, now);
  return forget(known);
}

Attachments::Table::iterator Attachments::forget(Table::iterator known) {
  const auto count = of_user_.find(known->second.user);
  if (count != of_user_.end() && --count->second == 0) of_user_.erase(count);
  return open_.erase(known);
}

std::size_t Attachments::size_of(const std::string& user) const {
  const auto count = of_user_.find(user);
  return count == of_user_.end() ? 0 : count->second;
}

AuditEntry Attachments::entry_of(const Open& one) const {
  const JobId& id = one.target.attempt.job;
  AuditEntry entry;
  entry.who = one.user;
  entry.key = one.key.value;
  entry.address = one.address;
  entry.what = one.verb;
  entry.object = "job " + id.value;
  if (const Job* job = ports_.core().state().job(id)) entry.project = job->spec.project;
  return entry;
}

void Attachments::record_opening(const Open& one, bool again) {
  AuditEntry entry = entry_of(one);
  entry.outcome = AuditOutcome::done;
  entry.detail =
      fmt::format("{}: {}{}", one.where, one.words, again ? " (it was open before)" : "");
  ports_.record(std::move(entry));
}

void Attachments::tell_signal(const Open& one, const AttachOpen& opening) {
  const auto* signal = std::get_if<AttachSignal>(&opening.order);
  if (signal == nullptr || opening.again || !ports_.signaled) return;
  ports_.signaled({one.target.attempt, one.target.node, opening.rank, signal->number, one.user});
}

void Attachments::record_end(const Open& one, const std::string& how, Instant now) {
  AuditEntry entry = entry_of(one);
  entry.outcome = AuditOutcome::note;
  entry.detail = fmt::format("{} {} after {}", one.where, how,
                             format_duration(std::max(now - one.opened, Duration{})));
  ports_.record(std::move(entry));
}

void Attachments::drop_foreign(const std::string& whose, Instant now) {
  drop();
  for (const std::string& line : foreign_.take(
           fmt::format("a frame of {} for an attachment of somebody else was dropped", whose), now))
    ports_.warn(line);
}

}  // namespace lockstep::launcher
