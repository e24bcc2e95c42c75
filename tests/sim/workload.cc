#include "tests/sim/workload.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "tests/sim/cluster.h"

namespace lockstep::sim {

namespace {

void draw_failure(JobPlan& plan, Random& random) {
  const auto& spec = plan.spec;
  const bool mpi = spec.distribution.kind == Distribution::Kind::mpi;
  static constexpr Ending kAny[] = {Ending::exit_code, Ending::exit_code, Ending::signal,
                                    Ending::out_of_memory, Ending::not_found};
  static constexpr Ending kMpi[] = {Ending::abort, Ending::no_finalize, Ending::never_connected};
  plan.ending = mpi && random.chance(0.5) ? kMpi[random.between(0, 2)] : kAny[random.between(0, 4)];
  plan.failing_rank = random.between(0, spec.world_size() - 1);
  plan.fails_after = random.between(milliseconds(100), seconds(6));
  switch (plan.ending) {
    case Ending::exit_code:
    case Ending::abort: plan.code = random.between(1, 120); break;
    case Ending::signal: plan.code = random.chance(0.5) ? SIGSEGV : SIGKILL; break;
    case Ending::out_of_memory: plan.code = SIGKILL; break;
    case Ending::never_connected:  // only seen when another rank is there and waits
      if (spec.world_size() < 2) plan.ending = Ending::no_finalize;
      plan.coupled = true;
      break;
    case Ending::ok:
    case Ending::no_finalize:
    case Ending::not_found:
    case Ending::start_failed:
    case Ending::aftermath:
    case Ending::killed: break;
  }
}

void draw_environment(JobSpec& spec, Random& random) {
  if (!random.chance(0.4)) return;
  EnvironmentSpec& environment = spec.environment.emplace();
  if (random.chance(0.2)) return;  // the host's own
  if (random.chance(0.5)) {
    auto& conda = environment.definition.emplace<CondaEnvironment>();
    conda.channels = {"conda-forge"};
    conda.dependencies = {"numpy=" + std::to_string(random.between(1, 2))};
    return;
  }
  environment.definition =
      VenvEnvironment{"python3", {}, {"numpy==" + std::to_string(random.between(1, 2))}, {}};
}

SshHost host_of(const Node& node) {
  SshHost host;
  host.name = host.address = node.name();
  return host;
}

Digest secret_of(const std::string& compute) { return sha256("secret of " + compute); }

}  // namespace

namespace {

// Of two users, in any priority, perhaps for a time.
void draw_queue(JobSpec& spec, Random& random) {
  if (random.chance(0.3)) spec.submitter = kSecondUser;
  static constexpr Priority kDrawn[] = {Priority::low, Priority::medium, Priority::medium,
                                        Priority::high};
  spec.queue.priority = kDrawn[random.between(0, 3)];
  if (random.chance(0.1)) spec.queue.delay = random.between(milliseconds(100), seconds(20));
}

}  // namespace

JobPlan draw_job(Random& random, int number, int nodes) {
  JobPlan plan;
  JobSpec& spec = plan.spec;
  spec.name = "job-" + std::to_string(number);
  spec.command = Argv{{"train"}};
  spec.submitter = "ada";
  static constexpr Distribution::Kind kKinds[] = {Distribution::Kind::none, Distribution::Kind::mpi,
                                                  Distribution::Kind::mpi,
                                                  Distribution::Kind::pytorch};
  spec.distribution.kind = kKinds[random.between(0, 3)];
  spec.distribution.processes_per_node = random.between(1, 3);
  spec.resources.instance_count = random.between(1, std::min(3, nodes));
  if (random.chance(0.03)) {
    spec.resources.instance_count = nodes + 1;
    plan.impossible = true;
  }
  // Nodes that differ by one rank.
  const int size = spec.resources.instance_count;
  if (spec.distribution == Distribution{Distribution::Kind::pytorch, 2} && size > 1)
    spec.distribution = tensorflow_on(size, 2 * size - 2, 1);
  if (random.chance(0.6)) {
    spec.resources.cpus = random.between(1, 3);
    spec.resources.memory = gibibytes(1);
    spec.resources.gpus = 0;
  }
  spec.retry.max = random.between(0, 4);
  static constexpr RetryOn kOn[] = {RetryOn::infrastructure, RetryOn::exit_code, RetryOn::signal,
                                    RetryOn::out_of_memory, RetryOn::timeout};
  if (random.chance(0.3)) spec.retry.on.push_back(kOn[random.between(0, 4)]);
  if (random.chance(0.1)) spec.retry.on = {RetryOn::node_lost};
  spec.retry.backoff =
      random.chance(0.5) ? Duration(0) : random.between(milliseconds(10), seconds(3));
  if (random.chance(0.35)) spec.retry.on_lost = OnLost::after_fence;
  draw_environment(spec, random);
  spec.checkpoint.every = random.between(seconds(1), seconds(4));
  plan.runs = random.between(milliseconds(100), seconds(8));  // an MPI rank connects before
  // A lease matters only to what would outlive it.
  if (spec.retry.on_lost == OnLost::after_fence && random.chance(0.6))
    plan.runs = random.between(seconds(10), seconds(40));
  plan.coupled = spec.world_size() > 1 && random.chance(0.7);
  if (random.chance(0.2)) {
    spec.timeout = random.between(seconds(2), seconds(6));
    plan.endless = random.chance(0.6);
  } else {
    plan.endless = random.chance(0.08);  // until somebody cancels it
    // A limit that it does not reach, but by which others may go first.
    if (!plan.endless && random.chance(0.6)) spec.timeout = random.between(seconds(60), minutes(5));
  }
  draw_queue(spec, random);
  if (random.chance(0.35)) draw_failure(plan, random);
  plan.ignores_term = random.chance(0.2) ? 0.5 : 0;
  plan.ends_well_on_term = random.chance(0.2) ? 0.5 : 0;
  plan.strays = random.chance(0.25) ? 0.5 : 0;
  return plan;
}

void make_possible(JobPlan& plan) {
  plan.impossible = plan.coupled = false;
  plan.failing_rank.reset();
  plan.spec.resources.instance_count = 1;
  if (plan.spec.distribution.kind == Distribution::Kind::tensorflow)
    plan.spec.distribution = tensorflow_on(1, 2, 1);
}

void Workload::begin() {
  const auto nodes = cluster_.nodes.size();
  has_lab_ = nodes >= 3 && cluster_.world.random.chance(0.4);
  attaches_ = has_lab_ && cluster_.world.random.chance(0.6);
  approves_nodes_ = nodes % 3 == 0 && !attaches_;  // the admin who attaches a host approves it
  if (approves_nodes_) cluster_.oracle.approval_required();
  if (has_lab_)
    create_targets();
  else
    make_tokens();
  ask(
      launcher::PrincipalInput{
          {}, AddUser{kSecondUser, "", {}, {Role::submitter, std::string(kDefaultProject)}}},
      "second user");
  ask(
      launcher::PrincipalInput{
          {}, ChangeRole{kSecondUser, {Role::priority, std::string(kDefaultProject)}, false}},
      kSecondUsersPriority);
  jobs_left_ = cluster_.world.random.between(3, 14);
  has_pipelines_ = jobs_left_ % 3 == 0 && !cluster_.weather.long_cuts;
  has_children_ = jobs_left_ % 4 == 0;
  if (cluster_.world.random.chance(0.4)) limit_somebody();
  if (!has_lab_) cluster_.world.after(seconds(3), [this] { submit_next(); });
  meddle();
}

// Target lab has nodes of its own, and laptop is another name of local.
void Workload::create_targets() {
  cluster_.oracle.lab_is_created();
  ComputeSpec lab{kLab, ComputeType::virtualmachine, "", "", {}, NodeSource::join, {}};
  if (attaches_) {
    lab.source = NodeSource::ssh;
    for (const auto& node : cluster_.nodes)
      if (is_of_lab(node->index)) lab.hosts.push_back(host_of(*node));
    if (cluster_.nodes.size() % 2 == 0) scale_lab(lab);
  }
  const ComputeSpec laptop{kLaptop, ComputeType::local, "", "", {}, NodeSource::none, {}};
  ask(launcher::ComputeInput{{}, CreateCompute{lab}}, "create lab");
  ask(launcher::ComputeInput{{}, CreateCompute{laptop}}, "create laptop");
}

// Its hosts are taken when jobs need them, and given back.
void Workload::scale_lab(ComputeSpec& lab) {
  auto& random = cluster_.world.random;
  lab.type = ComputeType::amlcompute;
  lab.scale.tier = random.chance(0.5) ? Tier::low_priority : Tier::dedicated;
  lab.scale.min_instances = random.chance(0.5) ? 1 : 0;
  lab.scale.max_instances = static_cast<int>(lab.hosts.size()) + 2;  // more than its hosts
  lab.scale.idle_time = random.between(seconds(1), seconds(20));
  cluster_.oracle.lab_scales(lab.scale);
}

void Workload::make_tokens() {
  const int uses = 100 * static_cast<int>(cluster_.nodes.size());
  for (const std::string compute : {"", kLab}) {
    if (compute == kLab && (!has_lab_ || attaches_)) continue;
    launcher::TokenInput token{{}, secret_of(compute), World::kStart + minutes(600), uses};
    if (approves_nodes_) token.approval = Approval::required;
    token.compute = compute;
    ask(std::move(token), "token of " + compute);
  }
}

// Mallory may submit in project vision. She tries what needs another role, and another project;
// then her key is revoked, and she tries what everybody may do with a key.
void Workload::meddle() {
  static const PublicKey kKey(std::string(40, 'm')), kAnother(std::string(40, 'a'));
  switch (++meddled_) {
    case 1: return ask(launcher::PrincipalInput{{}, CreateProject{"vision"}}, "meddle: project");
    case 2:
      return ask(
          launcher::PrincipalInput{
              {}, AddUser{"mallory", "mallory", kKey, {Role::submitter, "vision"}}},
          "meddle: user");
    case 3: return ask_forbidden(launcher::DrainInput{{}, "no-node", true, ""}, "drain");
    case 4: {
      RegisteredEnvironment tools;
      tools.spec.name = "tools";
      tools.spec.definition = VenvEnvironment{"python3", {}, {"numpy==1"}, {}};
      return ask_forbidden(
          launcher::CreateEnvironmentInput{{}, tools, std::string(kDefaultProject)}, "name");
    }
    case 5: return ask_forbidden(launcher::ApproveNodeInput{{}, "no-node"}, "approve");
    case 6: return ask_forbidden(launcher::RemoveNodeInput{{}, "no-node", {}, true}, "revoke");
    case 7: return ask(launcher::PrincipalInput{{}, RevokeKey{kKey}}, "meddle: revoke");
    case 8:
      return ask_forbidden(launcher::PrincipalInput{{}, AddKey{"mallory", kAnother, {}}}, "key");
    default: cluster_.world.count("fault:intruder"); return;
  }
}

// Some quota of the one user or project there is; no job asks for more than it.
void Workload::limit_somebody() {
  auto& random = cluster_.world.random;
  const int nodes = static_cast<int>(cluster_.nodes.size());
  const int widest = std::min(3, nodes);
  SetQuota quota{{QuotaHolder::Kind::user, "ada"}, {}, {}};
  if (random.chance(0.5)) quota.holder = {QuotaHolder::Kind::project, "default"};
  const auto set = [&](QuotaLimit limit, int value) {
    quota.set[limit] = static_cast<std::uint64_t>(value);
  };
  if (random.chance(0.5)) set(QuotaLimit::running_jobs, random.between(1, 3));
  if (random.chance(0.4)) set(QuotaLimit::nodes, random.between(widest, nodes));
  if (random.chance(0.4)) set(QuotaLimit::cpus, random.between(4 * widest, 4 * nodes));
  if (quota.set.empty()) set(QuotaLimit::running_jobs, 1);
  limits_nodes_ = quota.set.size() > quota.set.count(QuotaLimit::running_jobs);
  cluster_.world.after(random.between(seconds(1), seconds(20)), [this, quota] {
    ask(launcher::PrincipalInput{{}, quota}, "quota");
  });
}

void Workload::submit_next() {
  auto& random = cluster_.world.random;
  if (jobs_left_ == 0 || cluster_.winding_down) {
    submitting_ = false;
    return;
  }
  --jobs_left_;
  std::string compute;
  if (has_lab_) compute = random.chance(0.5) ? kLab : random.chance(0.5) ? kLaptop : "local";
  const auto here = std::count_if(
      cluster_.nodes.begin(), cluster_.nodes.end(),
      [&](const auto& node) { return !has_lab_ || is_of_lab(node->index) == (compute == kLab); });
  JobPlan plan = draw_job(random, ++submitted_, static_cast<int>(here));
  plan.spec.compute = compute;
  plan.spec.resources.isolated = random.chance(0.15);
  if (cluster_.weather.long_cuts) {
    plan.spec.retry.on_lost = OnLost::after_fence;
    plan.runs = random.between(seconds(10), seconds(40));
  }
  if (limits_nodes_ && plan.impossible) make_possible(plan);
  const JobId job(plan.spec.name);
  if (has_pipelines_ && !plan.impossible && random.chance(0.5)) {
    submit_pipeline(std::move(plan), static_cast<int>(here));
  } else {
    draw_after(plan);
    plans_[job] = std::move(plan);
    submit(plans_[job]);
  }
  if (random.chance(0.15))
    cluster_.world.after(random.between(milliseconds(10), seconds(12)),
                         [this, job] { cancel(job); });
  const Duration pause = random.chance(0.4) ? random.between(milliseconds(1), milliseconds(50))
                                            : random.between(seconds(0), seconds(8));
  cluster_.world.after(pause, [this] { submit_next(); });
}

// Jobs that are there when it is submitted; the network is slow, and they may be deleted.
void Workload::draw_after(JobPlan& plan) {
  auto& random = cluster_.world.random;
  if (plan.impossible || plan.endless || !random.chance(0.2)) return;
  const auto& there = cluster_.launcher.committed().jobs();
  for (const auto& [id, other] : there) {
    const auto known = plans_.find(id);
    const bool is_theirs = known != plans_.end() && other.spec.submitter == plan.spec.submitter;
    if (!is_theirs || known->second.endless || known->second.impossible) continue;
    if (!random.chance(0.4) || plan.spec.queue.after.size() >= 3) continue;
    plan.spec.queue.after.push_back(
        {id, random.chance(0.5) ? AfterWhen::completed : AfterWhen::ended});
  }
}

// The owner changes its mind while the job waits, or later.
void Workload::update(const JobId& job) {
  auto& random = cluster_.world.random;
  const Priority priority = random.chance(0.5) ? Priority::low : Priority::high;
  cluster_.world.after(random.between(milliseconds(10), seconds(5)), [this, job, priority] {
    cluster_.oracle.client_updates(job, priority);
    ask(launcher::UpdateJobInput{{}, job, priority}, "update " + job.value);
  });
}

// Its owner archives it, takes that back, and notes something about it, in any order.
void Workload::annotate(const JobId& job) {
  ask(launcher::ArchiveJobInput{{}, {job, true}}, "archive " + job.value);
  ask(launcher::ArchiveJobInput{{}, {job, false}}, "restore " + job.value);
  AnnotateJob note;
  note.job = job;
  note.description = kNote;
  note.set_tags["noted"] = "yes";
  ask(launcher::AnnotateJobInput{{}, std::move(note)}, "annotate " + job.value);
}

void Workload::submit(const JobPlan& plan) {
  cluster_.oracle.job_planned(JobId(plan.spec.name), plan.spec);
  for (const JobId& step : steps_of(JobId(plan.spec.name)))
    cluster_.oracle.job_planned(step, plans_.at(step).spec);
  const std::string what = "submit " + plan.spec.name;
  // Whoever never heard that its job was there, until another deleted it, asks no more.
  std::erase_if(waiting_, [&](const auto& item) { return item.second.what == what; });
  launcher::SubmitInput submit;
  submit.submission = "submission-" + std::to_string(next_);
  submit.spec = plan.spec;
  submit.rebuild = plan.spec.environment && cluster_.world.random.chance(0.15);
  if (cluster_.world.random.chance(0.3)) {
    submit.generated_name = plan.spec.name;
    submit.spec.name.clear();
  }
  ask(std::move(submit), what);
}

void Workload::job_starts(const JobId& job) {
  if (cluster_.world.random.chance(0.02)) cancel(job);
  submit_child(job);
}

void Workload::job_finished(const JobId& job) {
  auto& random = cluster_.world.random;
  if (is_of_step(job) || !random.chance(cluster_.weather.delete_job)) return;
  const Duration wait = random.chance(0.7) ? random.between(milliseconds(0), milliseconds(100))
                                           : random.between(seconds(0), seconds(20));
  cluster_.world.after(wait, [this, job] {
    cluster_.world.count("fault:delete");
    cluster_.oracle.client_deletes(job);
    for (const JobId& step : steps_of(job)) cluster_.oracle.client_deletes(step);
    ask(launcher::DeleteInput{{}, {job}, false, {}}, "delete " + job.value);
  });
}

void Workload::deleted(const launcher::ReplyTo& to, const JobsDeleted& result) {
  on_reply(to, [this, result](const Request& request) {
    const JobId job = std::get<launcher::DeleteInput>(request.input).jobs.front();
    if (result.jobs != std::vector<JobId>{job}) return;  // it has come to run again since
    plans_.at(job).spec.queue.after.clear();             // they may be deleted, too
    if (cluster_.launcher.committed().deleted().last().count(job) == 0)
      cluster_.world.violate("oracle:reply", "a deletion was confirmed but not committed");
    if (cluster_.winding_down || !cluster_.world.random.chance(0.8)) return;
    cluster_.world.count("fault:name_used_again");
    submit(plans_.at(job));
  });
}

void Workload::cancel(const JobId& job) {
  cluster_.world.count("fault:cancel");
  cluster_.oracle.client_canceled(job);
  for (const JobId& step : steps_of(job)) cluster_.oracle.client_canceled(step);
  ask(launcher::CancelInput{{}, job}, "cancel " + job.value);
}

void Workload::join(const Node& node) {
  const std::string name = "n" + std::to_string(node.index);
  const std::string compute = has_lab_ && is_of_lab(node.index) ? kLab : "";
  ask(launcher::JoinInput{{}, secret_of(compute), node.key, name}, "join " + name);
}

bool Workload::is_machine(const Node& node) const { return attaches_ && is_of_lab(node.index); }

void Workload::join_machine(const Node& node, const Digest& secret) {
  ask(launcher::JoinInput{{}, secret, node.key, node.name()}, "join machine " + node.name());
}

// Whoever asked before gives way, as with drain().
void Workload::forget_hosts_requests(const Node& node) {
  std::erase_if(waiting_, [&](const auto& item) {
    return item.second.what == "attach " + node.name() ||
           item.second.what == "detach " + node.name();
  });
}

void Workload::attach(const Node& node) {
  forget_hosts_requests(node);
  ask(launcher::ComputeInput{{}, AttachHosts{kLab, {host_of(node)}}}, "attach " + node.name());
}

void Workload::detach(const Node& node, bool force) {
  forget_hosts_requests(node);
  ask(launcher::ComputeInput{{}, DetachHosts{kLab, {node.name()}, force}}, "detach " + node.name());
}

// An admin looks at the node first.
void Workload::approve(NodeId node) {
  cluster_.world.after(cluster_.world.random.between(milliseconds(100), seconds(5)), [this, node] {
    cluster_.oracle.approves(node);
    const std::string id = std::to_string(node.value);
    ask(launcher::ApproveNodeInput{{}, id}, "approve node " + id);
  });
}

void Workload::drain(const std::string& node, bool drain) {
  if (drain) drained_.insert(node);
  std::erase_if(waiting_, [&](const auto& item) {  // whoever asked before gives way
    const auto* older = std::get_if<launcher::DrainInput>(&item.second.input);
    return older != nullptr && older->name_or_id == node;
  });
  ask(launcher::DrainInput{{}, node, drain, "maintenance"}, (drain ? "drain " : "resume ") + node);
}

void Workload::wind_down() {
  for (const auto& node : cluster_.nodes)
    if (is_machine(*node)) attach(*node);
  for (const auto& node : drained_) drain(node, false);
  for (const auto& [job, plan] : plans_) {
    const bool no_end =
        plan.endless || plan.impossible || cluster_.no_space_until == Instant::never();
    if (no_end && !is_of_step(job)) cancel(job);
  }
}

void Workload::shut_down() { ask(launcher::ShutdownInput{{}, false}, "shutdown"); }

// ---- asking until answered ---------------------------------------------------------------------

void Workload::ask(launcher::Input input, std::string what) {
  begin_asking(std::move(input), std::move(what), false);
}

void Workload::ask_forbidden(launcher::Input input, std::string what) {
  begin_asking(std::move(input), "forbidden: " + what, true);
}

void Workload::begin_asking(launcher::Input input, std::string what, bool is_forbidden) {
  const std::uint64_t id = next_++;
  std::visit(
      [id](auto& in) {
        if constexpr (requires { in.reply; }) in.reply = {id, 1};
        if constexpr (requires { in.caller; })
          if (!std::holds_alternative<launcher::AttemptCaller>(in.caller))
            in.caller = launcher::UserCaller{"ada"};
        if constexpr (requires { in.spec.submitter; })
          if (!in.spec.submitter.empty()) in.caller = launcher::UserCaller{in.spec.submitter};
      },
      input);
  waiting_[id] = Request{std::move(input), std::move(what), 0, is_forbidden};
  send(id);
}

void Workload::send(std::uint64_t id) {
  const auto it = waiting_.find(id);
  if (it == waiting_.end()) return;
  if (++it->second.sent > 1) cluster_.world.count("fault:client_asks_again");
  cluster_.over_network([this, input = it->second.input, forbidden = it->second.is_forbidden] {
    if (forbidden) return cluster_.launcher.deliver_from(PublicKey(std::string(40, 'm')), input);
    cluster_.launcher.deliver(input);
  });
  cluster_.world.after(seconds(1), [this, id] { send(id); });
}

void Workload::on_reply(const launcher::ReplyTo& to, std::function<void(const Request&)> answer) {
  cluster_.over_network([this, id = to.client, answer = std::move(answer)] {
    const auto it = waiting_.find(id);
    if (it == waiting_.end()) return;  // doubled
    const Request request = std::move(it->second);
    waiting_.erase(it);
    answer(request);
  });
}

void Workload::replied(const launcher::ReplyTo& to, const JobId& job) {
  on_reply(to, [this, job](const Request& request) {
    const auto& submission = std::get<launcher::SubmitInput>(request.input).submission;
    const auto [known, fresh] = submissions_.emplace(submission, job);
    if (!fresh && known->second != job)
      cluster_.world.violate("oracle:submission", "one submission became two jobs");
    if ("submit " + job.value != request.what)
      cluster_.world.violate("oracle:submission", request.what + " was answered with " + job.value);
    // Some are shared, and of these every other one is taken back.
    const bool is_adas = plans_.at(job).spec.submitter == "ada";
    if (is_adas && (submission.ends_with('7') || submission.ends_with('8'))) {
      ask(launcher::ShareInput{{}, job, true}, "share " + job.value);
      if (submission.ends_with('8'))
        ask(launcher::ShareInput{{}, job, false}, "unshare " + job.value);
    }
    if (is_adas && submission.ends_with('5')) annotate(job);
    if (cluster_.world.random.chance(0.1)) update(job);
    const JobPlan& plan = plans_.at(job);
    if (cluster_.winding_down && (plan.endless || plan.impossible)) cancel(job);
  });
}

void Workload::joined(const launcher::ReplyTo& to, NodeId node) {
  on_reply(to, [this, node](const Request& request) {
    if (approves_nodes_) approve(node);
    const auto& key = std::get<launcher::JoinInput>(request.input).key;
    for (auto& candidate : cluster_.nodes)
      if (candidate->key == key) candidate->joined(node);
  });
}

void Workload::done(const launcher::ReplyTo& to) {
  on_reply(to, [this](const Request& request) {
    const auto& state = cluster_.launcher.committed();
    if (request.is_forbidden)
      return cluster_.world.violate("oracle:authority", request.what + " was granted");
    if (request.what.starts_with("meddle")) return meddle();
    if (const auto* change = std::get_if<launcher::PrincipalInput>(&request.input))
      if (const auto* quota = std::get_if<SetQuota>(&change->ask))
        cluster_.oracle.quota_agreed(*quota);
    if (const auto* token = std::get_if<launcher::TokenInput>(&request.input))
      for (auto& node : cluster_.nodes)
        if (!has_lab_ || is_of_lab(node->index) == (token->compute == kLab)) join(*node);
    begin_when_targets_are_there();
    if (const auto* asked = std::get_if<launcher::ComputeInput>(&request.input)) {
      const auto* created = std::get_if<CreateCompute>(&asked->ask);
      if (created != nullptr && !state.computes().has(created->spec.name))
        cluster_.world.violate("oracle:reply", request.what + " was confirmed but not committed");
    }
    if (const auto* approved = std::get_if<launcher::ApproveNodeInput>(&request.input)) {
      const auto* node = state.node_called(approved->name_or_id);
      if (node != nullptr && node->waits_for_approval)
        cluster_.world.violate("oracle:reply", "an approval was confirmed but not committed");
    }
    if (const auto* canceled = std::get_if<launcher::CancelInput>(&request.input)) {
      const auto* job = state.job(canceled->job);
      const bool over = (job != nullptr && (job->is_ending() || job->is_final())) ||
                        state.deleted().last().count(canceled->job) != 0;
      if (!over && (job == nullptr || !job->cancel_by))
        cluster_.world.violate("oracle:reply", "a cancel was confirmed but not committed");
    }
    // A revoked machine is no longer a host; the admin attaches it again.
    if (const auto* revoked = std::get_if<launcher::RemoveNodeInput>(&request.input);
        revoked != nullptr && revoked->now && attaches_)
      cluster_.world.after(seconds(5), [this] {
        for (const auto& node : cluster_.nodes)
          if (is_machine(*node)) attach(*node);
      });
    if (const auto* removed = std::get_if<launcher::RemoveNodeInput>(&request.input))
      if (state.node_called(removed->name_or_id) != nullptr)
        cluster_.world.violate("oracle:reply", request.what + " was confirmed but not committed");
    if (const auto* drained = std::get_if<launcher::DrainInput>(&request.input)) {
      const auto* node = state.node_called(drained->name_or_id);
      if (drained->drain && node != nullptr && cluster_.drained_once.count(node->name) == 0)
        cluster_.world.violate("oracle:reply", "a drain was confirmed but not committed");
    }
  });
}

void Workload::begin_when_targets_are_there() {
  const auto& computes = cluster_.launcher.committed().computes();
  const bool all_there = computes.has(kLab) && computes.has(kLaptop);
  if (!has_lab_ || !all_there || std::exchange(targets_are_there_, true)) return;
  make_tokens();
  cluster_.world.after(seconds(3), [this] { submit_next(); });
}

void Workload::refused(const launcher::ReplyTo& to, ErrorCode code, const std::string& message) {
  on_reply(to, [this, code, message](const Request& request) {
    cluster_.world.trace("{} refused: {}", request.what, message);
    if (request.is_forbidden && code == ErrorCode::permission_denied) return meddle();
    if (request.is_forbidden)
      return cluster_.world.violate("oracle:authority",
                                    request.what + " came past the door: " + message);
    // The answer was lost, and its hosts have changed since.
    if (request.what == "create lab" && code == ErrorCode::already_exists)
      return begin_when_targets_are_there();
    // It was detached before, or its machine leaves now.
    const bool is_drain = std::holds_alternative<launcher::DrainInput>(request.input);
    if (is_drain && cluster_.oracle.lab_scale() && code == ErrorCode::not_found) return;
    if (request.what.starts_with("detach ") && code == ErrorCode::not_found) return;
    if (request.what.starts_with("join machine ") && code == ErrorCode::permission_denied) return;
    const bool cancel = std::holds_alternative<launcher::CancelInput>(request.input);
    const auto& state = cluster_.launcher.committed();
    const auto* cancels = std::get_if<launcher::CancelInput>(&request.input);
    if (cancels != nullptr && state.deleted().last().count(cancels->job) != 0) return;
    // The answer was lost for so long that the job has ended and was deleted.
    const auto* submit = std::get_if<launcher::SubmitInput>(&request.input);
    if (submit != nullptr && state.deleted().with_submission(submit->submission) != nullptr) return;
    // Its parent's attempt ended meanwhile.
    if (submit != nullptr && code == ErrorCode::permission_denied &&
        std::holds_alternative<launcher::AttemptCaller>(submit->caller)) {
      unborn_.insert(JobId(submit->spec.name));
      return;
    }
    // The second user is not there yet.
    if (submit != nullptr && code == ErrorCode::permission_denied &&
        submit->spec.submitter == kSecondUser)
      return ask(request.input, request.what);
    if (request.what == kSecondUsersPriority && code == ErrorCode::not_found)
      return ask(request.input, request.what);
    // A job that it was to run after was deleted meanwhile.
    if (submit != nullptr && code == ErrorCode::not_found && !submit->spec.queue.after.empty()) {
      JobPlan& plan = plans_.at(JobId(request.what.substr(std::string("submit ").size())));
      plan.spec.queue.after.clear();
      return this->submit(plan);
    }
    // It has started, ended or was deleted meanwhile.
    const bool update = std::holds_alternative<launcher::UpdateJobInput>(request.input);
    if (update && (code == ErrorCode::conflict || code == ErrorCode::not_found)) return;
    // A cancel may come before its submission did, or after the job's end.
    if (cancel && code == ErrorCode::not_found) {
      if (unborn_.count(cancels->job) != 0) return;
      ask(request.input, request.what);
      return;
    }
    if (cancel && code == ErrorCode::conflict) return;
    // Alive, or it still holds something: whoever asks tries again another day.
    const bool remove = std::holds_alternative<launcher::RemoveNodeInput>(request.input);
    const bool revoke = remove && std::get<launcher::RemoveNodeInput>(request.input).now;
    if (remove && !revoke && code == ErrorCode::conflict) return;
    const bool approve = std::holds_alternative<launcher::ApproveNodeInput>(request.input);
    if (approve && code == ErrorCode::not_found) return;  // removed meanwhile
    const bool share = std::holds_alternative<launcher::ShareInput>(request.input);
    if (share && code == ErrorCode::not_found) return;  // deleted meanwhile
    const bool annotate = std::holds_alternative<launcher::ArchiveJobInput>(request.input) ||
                          std::holds_alternative<launcher::AnnotateJobInput>(request.input);
    if (annotate && code == ErrorCode::not_found) return;  // deleted meanwhile
    // Removed meanwhile; it joins again under the same name.
    const bool drain = std::holds_alternative<launcher::DrainInput>(request.input);
    if (drain && code == ErrorCode::not_found) return ask(request.input, request.what);
    // Its machine leaves; another one joins under the same name.
    if (drain && code == ErrorCode::conflict) return ask(request.input, request.what);
    cluster_.world.violate("oracle:refused", request.what + " was refused: " + message);
  });
}

std::string Workload::waits_for() const {
  std::string text;
  for (const auto& [id, request] : waiting_) text += " [" + request.what + "]";
  return text;
}

}  // namespace lockstep::sim
