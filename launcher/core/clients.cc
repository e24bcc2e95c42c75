// What people ask for: submit, cancel, drain, tokens, joins, shutdown.

#include <fmt/format.h>
#include <algorithm>

#include "common/domain/docker_args.h"
#include "launcher/core/placement.h"
#include "launcher/core/reactor.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kShutdownSlack = seconds(30);  // beyond grace and node_lost_timeout
constexpr std::size_t kMaxNodeNameBytes = 63;     // as of a host name

// A node's name as it can stand in a prefix, a path or a table: other characters become '-'.
std::string clean_name(const std::string& wanted) {
  std::string name = wanted.substr(0, kMaxNodeNameBytes);
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!good) c = '-';
  }
  // A name of digits alone could be taken for an id.
  if (name.find_first_not_of("0123456789") == std::string::npos) name = "node" + name;
  return name;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::optional<Error> Reactor::refusal(const SubmitInput& input, const JobSpec& spec) const {
  if (stopping_)
    return make_error(ErrorCode::unavailable,
                      "the launcher is shutting down and takes no new jobs; submit again once it "
                      "was started again");
  if (Status status = validate(spec); !status) return status.error();
  if (spec.in_container())
    if (Status status = check_docker_args(spec.resources.docker_args, config_.allowed_docker_args);
        !status)
      return status.error();
  if (const Job* other = state_.job(JobId(spec.name)))
    return make_error(ErrorCode::already_exists,
                      fmt::format("a job '{}' exists already ({}); choose another {}, or leave "
                                  "the name out to get a generated one",
                                  spec.name, to_string(other->status()),
                                  input.spec.name.empty() ? "generated name" : "name"));
  if (state_.queue().size() >= config_.max_queued_jobs)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("the queue is full: {} jobs wait, the most allowed; submit "
                                  "again later, or cancel some",
                                  state_.queue().size()));
  return never_possible(cluster(), spec);
}

void Reactor::on(const SubmitInput& input) {
  if (!input.submission.empty()) {
    if (const Job* same = state_.job_of_submission(input.submission)) {
      act(ReplySubmitted{input.reply, same->id});
      return;
    }
  }
  if (const JobId* deleted = state_.deleted().with_submission(input.submission))
    return refuse(input.reply, ErrorCode::conflict,
                  fmt::format("this submission became job '{}', which was deleted since; submit "
                              "the job anew",
                              deleted->value));
  JobSpec spec = input.spec;
  if (spec.name.empty()) spec.name = input.generated_name;
  if (auto error = refusal(input, spec)) {
    refuse(input.reply, error->code, std::move(error->message));
    return;
  }
  const JobId job{spec.name};
  const std::string by = spec.submitter;
  emit(JobSubmitted{job, input.submission, std::move(spec), 0, era_of_new(job)});
  if (input.rebuild) rebuild_environment(job, by);
  act(ReplySubmitted{input.reply, job});
}

void Reactor::on(const CancelInput& input) {
  const Job* job = state_.job(input.job);
  if (job == nullptr) {
    refuse(input.reply, ErrorCode::not_found,
           fmt::format("there is no job '{}'; `lockstep job list` shows all", input.job.value));
    return;
  }
  const std::string& name = job->id.value;
  std::string message;
  if (job->phase == Job::Phase::final)
    message = fmt::format("job '{}' is already {}", name, to_string(job->status()));
  else if (job->phase == Job::Phase::ended)
    message = fmt::format(
        "job '{}' has already ended; its logs are being collected, and what the launcher has no "
        "space for is given up in {}",
        name, format_duration(config_.space_patience));
  else if (job->cancel_by)
    message = fmt::format("job '{}' is being canceled already", name);
  else
    message = fmt::format("job '{}' is being canceled", name);
  cancel(input.job, input.by);
  act(ReplyDone{input.reply, std::move(message)});
}

void Reactor::cancel(const JobId& id, const std::string& by) {
  const Job& job = *state_.job(id);
  const bool can = job.phase == Job::Phase::waiting || job.phase == Job::Phase::placed;
  if (can && !job.cancel_by) emit(CancelRequested{id, by});
  if (job.phase == Job::Phase::ended) canceled_late_.insert(id);
}

void Reactor::on(const DrainInput& input) {
  const Node* node = state_.node_called(input.name_or_id);
  if (node == nullptr) {
    refuse(input.reply, ErrorCode::not_found,
           fmt::format("there is no node '{}'; `lockstep node list` shows all", input.name_or_id));
    return;
  }
  const std::optional<std::string> wanted =
      input.drain ? std::optional<std::string>(input.reason) : std::nullopt;
  if (node->drain != wanted) emit(NodeDrainChanged{node->id, input.drain, input.reason});
  std::string message = "node " + node->name;
  if (!input.drain)
    message += " takes work again";
  else if (node->parts.empty())
    message += " is drained";
  else
    message +=
        " takes no new work; " + counted(node->parts.size(), "attempt") + " on it may still run";
  act(ReplyDone{input.reply, std::move(message)});
}

void Reactor::on(const RemoveNodeInput& input) {
  const Node* node = state_.node_called(input.name_or_id);
  if (node == nullptr) {
    for (const auto& [id, removed] : state_.removed_nodes())  // the answer was lost: asked again
      if (removed.name == input.name_or_id || std::to_string(id.value) == input.name_or_id)
        return act(ReplyDone{input.reply, "node " + removed.name + " is removed"});
    return refuse(
        input.reply, ErrorCode::not_found,
        fmt::format("there is no node '{}'; `lockstep node list` shows all", input.name_or_id));
  }
  const NodeId id = node->id;
  const std::string name = node->name;
  if (watches_.liveness(id) == Liveness::alive)
    return refuse(input.reply, ErrorCode::conflict,
                  fmt::format("node {} is ALIVE; end its lockstep-agent first, and remove it when "
                              "`lockstep node list` shows it as UNKNOWN or LOST",
                              name));
  if (!node->parts.empty())
    return refuse(input.reply, ErrorCode::conflict,
                  fmt::format("node {} holds {} (the first is {}); it can be removed when it is "
                              "LOST, or has handed over what it holds",
                              name, counted(node->parts.size(), "attempt"),
                              to_string(node->parts.begin()->first)));
  const PublicKey key = node->key;
  emit(NodeRemoved{id, input.by});
  timers_.clear({TimerKey::Kind::node, id, {}});
  watches_.forget(id);
  touched_nodes_.erase(id);
  act(RevokeNode{key});
  act(ReplyDone{input.reply, "node " + name + " is removed"});
}

void Reactor::on(const TokenInput& input) {
  if (input.uses < 1 || input.expires <= now_) {
    refuse(input.reply, ErrorCode::invalid_argument,
           "a join token needs at least one use and an expiry in the future");
    return;
  }
  if (state_.tokens().count(input.secret_hash) == 0)
    emit(TokenCreated{input.secret_hash, input.expires, input.uses});
  act(ReplyDone{input.reply, "token created"});
}

std::string Reactor::free_node_name(const std::string& wanted) const {
  const std::string base = clean_name(wanted);
  std::string name = base;
  for (int i = 2; state_.node_called(name) != nullptr; ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

void Reactor::on(const JoinInput& input) {
  const auto token = state_.tokens().find(input.secret_hash);
  if (token == state_.tokens().end()) {
    refuse(input.reply, ErrorCode::permission_denied,
           "the join token is not known to this launcher; make a new one with "
           "`lockstep node token`");
    return;
  }
  // The reply to an earlier join was lost: the same node asks again.
  if (const Node* node = state_.node_with_key(input.key)) {
    act(AllowNode{node->id, node->key});
    act(ReplyJoined{input.reply, node->id, node->name});
    return;
  }
  if (const RemovedNode* removed = state_.removed_with_key(input.key)) {
    refuse(input.reply, ErrorCode::permission_denied,
           fmt::format("this is the key of node {}, which was removed; remove the agent's keys and "
                       "identity.json, so that it gets new ones",
                       removed->name));
    return;
  }
  const Token& grant = token->second;
  if (grant.expires <= now_ || grant.used >= grant.uses) {
    refuse(input.reply, ErrorCode::permission_denied,
           fmt::format("the join token {}; make a new one with `lockstep node token`",
                       grant.expires <= now_ ? "expired at " + to_string(grant.expires)
                                             : "was used " + counted(grant.used, "time") +
                                                   ", as often as it allows"));
    return;
  }
  const NodeId id = state_.next_node_id();
  const std::string name = free_node_name(input.name);
  emit(NodeJoined{id, name, input.key, input.secret_hash});
  watches_.at(id).heard = clock_.polled();
  arm_node_timer(id);
  act(AllowNode{id, input.key});
  act(ReplyJoined{input.reply, id, name});
}

void Reactor::on(const ShutdownInput& input) {
  if (!input.cancel_jobs && !state_.unfinished().empty()) {
    std::size_t waiting = state_.queue().size();
    std::size_t running = state_.unfinished().size() - waiting;
    refuse(input.reply, ErrorCode::conflict,
           fmt::format("{} {} and {} {} in the queue (the first is '{}'); wait for them, or "
                       "cancel them with `lockstep down --cancel`",
                       counted(running, "job"), running == 1 ? "runs" : "run", waiting,
                       waiting == 1 ? "waits" : "wait", state_.unfinished().begin()->value));
    return;
  }
  if (!stopping_) {
    stopping_.emplace();
    Instant due = clock_.polled() + config_.node_lost_timeout;
    if (grace_until_) due = std::max(due, *grace_until_);
    timers_.set({TimerKey::Kind::shutdown, {}, {}},
                due + config_.stop_grace + config_.space_patience + kShutdownSlack);
  }
  stopping_->push_back(input.reply);
  const std::set<JobId> unfinished = state_.unfinished();
  for (const JobId& job : unfinished) cancel(job, "lockstep down");
}

void Reactor::continue_shutdown() {
  if (!stopping_ || !state_.unfinished().empty()) return;
  for (const ReplyTo& reply : *stopping_) act(ExitDaemon{reply});
  stopping_.reset();
  timers_.clear({TimerKey::Kind::shutdown, {}, {}});
}

void Reactor::give_up_shutdown() {
  if (!stopping_) return;
  const JobId& first = *state_.unfinished().begin();
  for (const ReplyTo& reply : *stopping_)
    refuse(reply, ErrorCode::deadline_exceeded,
           fmt::format("{} did not end in time (the first is '{}'; `lockstep job show {}` says "
                       "why); the launcher stays up",
                       counted(state_.unfinished().size(), "job"), first.value, first.value));
  stopping_.reset();
}

}  // namespace lockstep::launcher
