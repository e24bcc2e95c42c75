#include "launcher/core/core.h"

#include <algorithm>

#include "common/base/natural_order.h"
#include "launcher/core/attempts/desired.h"
#include "launcher/core/attempts/rank_settings.h"
#include "launcher/core/effects.h"
#include "launcher/core/explain/events.h"
#include "launcher/core/explain/explain.h"
#include "launcher/core/explain/state_views.h"
#include "launcher/core/explain/step_views.h"
#include "launcher/core/jobs/requests.h"
#include "launcher/core/nodes/agents.h"
#include "launcher/core/queue/quotas.h"
#include "launcher/core/queue/scheduler.h"
#include "launcher/core/reactor.h"
#include "launcher/core/targets/compute_requests.h"
#include "launcher/core/targets/size_requests.h"
#include "launcher/state/roots.h"

namespace lockstep::launcher {

struct Core::Impl {
  explicit Impl(CoreConfig config)
      : context(std::move(config), follow, scheduler), scheduler(context.state, context.config) {}
  Context context;
  Scheduler scheduler;
};

Core::Core(CoreConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Core::~Core() = default;
Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;

Step Core::handle(Instant now, const Input& input, bool more) {
  return launcher::handle(impl_->context, now, input, more);
}
Heard Core::hear(Instant now, const HeartbeatInput& input) {
  return launcher::hear(impl_->context, now, input);
}
void Core::replay(const StampedFact& fact) { impl_->context.replay(fact); }
void Core::recovered(Instant now) { launcher::recovered(impl_->context, now); }
std::vector<Action> Core::resume() const { return launcher::resume(state()); }
Instant Core::next_deadline() const { return launcher::next_deadline(impl_->context); }

DesiredState Core::desired_for(NodeId node) const {
  return launcher::desired_for(state(), impl_->context.config, node);
}

const State& Core::state() const { return impl_->context.state; }

const CoreConfig& Core::config() const { return impl_->context.config; }

std::vector<Digest> Core::trees() const {
  std::set<Digest> trees;
  each_root(state(), [&](const Root& root) { trees.insert(root.tree); });
  for (const auto& [node, watch] : impl_->context.watches.all())
    for (const auto& [attempt, so_far] : watch.so_far)
      for (const CollectedOutput& output : so_far.outputs)
        each_tree(output, [&](const Digest& tree) { trees.insert(tree); });
  return {trees.begin(), trees.end()};
}

std::vector<Digest> Core::trees_of(const JobId& id) const {
  std::vector<Digest> trees;
  const Job* job = state().job(id);
  if (job == nullptr) return trees;
  each_tree_of(*job, [&](const Digest& tree) { trees.push_back(tree); });
  if (job->attempts.empty()) return trees;
  const Attempt& last = job->attempts.back();
  for (const Part& part : last.parts) {
    const auto watch = impl_->context.watches.all().find(part.node);
    if (watch == impl_->context.watches.all().end()) continue;
    const auto told = watch->second.so_far.find(last.id);
    if (told == watch->second.so_far.end()) continue;
    for (const CollectedOutput& output : told->second.outputs)
      each_tree(output, [&](const Digest& tree) { trees.push_back(tree); });
  }
  return trees;
}

std::vector<Digest> Core::trees_of(NodeId id) const {
  std::vector<Digest> trees;
  if (const Node* node = state().node(id))
    each_tree_of(state(), *node, [&](const Digest& tree) { trees.push_back(tree); });
  return trees;
}

std::optional<JobView> Core::job_view(const JobId& id, ViewDetail detail) const {
  const Job* job = state().job(id);
  if (job == nullptr) return std::nullopt;
  JobView view = view_of(impl_->context.cluster(), impl_->context.scheduler, *job,
                         impl_->context.scheduler.position(*job), detail);
  view.steps = step_views(impl_->context.cluster(), impl_->context.scheduler, *job);
  for (const std::uint64_t order : state().children(id)) {
    ++view.children;
    const Job& child = *state().job(state().submitted().at(order));
    view.open_children += child.is_final() ? 0 : 1;
  }
  return view;
}

void Core::each_job_view(const JobId& after, const std::set<std::uint64_t>* among,
                         const std::function<bool(const Job&)>& wanted,
                         const std::function<bool(JobView)>& take) const {
  launcher::each_job_view(impl_->context.cluster(), impl_->context.scheduler, after, among, wanted,
                          take);
}

std::vector<JobView> Core::job_views() const {
  std::vector<JobView> views;
  each_job_view(
      {}, nullptr, [](const Job&) { return true; },
      [&](JobView view) {
        views.push_back(std::move(view));
        return true;
      });
  return views;
}

std::vector<NodeView> Core::node_views() const {
  std::vector<NodeView> views;
  for (const auto& [id, node] : state().nodes())
    views.push_back(view_of(impl_->context.cluster(), node));
  std::stable_sort(views.begin(), views.end(), [](const NodeView& a, const NodeView& b) {
    return is_named_before(a.name, b.name);
  });
  return views;
}

std::vector<ComputeView> Core::compute_views(const std::string& name, bool history) const {
  std::vector<ComputeView> views;
  const auto add = [&](const std::string& one) {
    if (auto view = compute_view(impl_->context, one, history)) views.push_back(*std::move(view));
  };
  if (!name.empty()) {
    add(name);
    return views;
  }
  add(std::string(kLocalCompute));
  for (const auto& [one, compute] : state().computes().all()) add(one);
  return views;
}

std::vector<SizeView> Core::size_views(const std::vector<std::string>& names) const {
  return launcher::size_views(impl_->context.cluster(), names);
}

Liveness Core::liveness(NodeId node) const { return impl_->context.watches.liveness(node); }

Duration Core::clock_ahead(const Part& part) const {
  const NodeWatch* watch = impl_->context.watches.find(part.node);
  if (const auto measured = watch ? watch->clock.offset() : std::nullopt) return measured->ahead;
  const bool was_measured = part.report && part.report->clock;
  return was_measured ? part.report->clock->ahead : Duration{0};
}

std::optional<NodeView> Core::node_view(const std::string& name_or_id, bool history) const {
  const Node* node = state().node_called(name_or_id);
  if (node == nullptr) return std::nullopt;
  NodeView view = view_of(impl_->context.cluster(), *node);
  if (history) view.history = node->history;
  return view;
}

std::optional<ExplainView> Core::explain(const JobId& id) const {
  const Job* job = state().job(id);
  if (job == nullptr) return std::nullopt;
  return launcher::explain(impl_->context.cluster(), impl_->context.scheduler, *job);
}

std::optional<SettingsView> Core::settings_of(const JobId& id, int rank) const {
  const Job* job = state().job(id);
  if (job == nullptr) return std::nullopt;
  return launcher::settings_of(impl_->context.cluster(), *job, rank);
}

std::optional<EventsReply> Core::job_events(const JobId& id, Instant since) const {
  const Job* job = state().job(id);
  if (job == nullptr) return std::nullopt;
  return EventsReply{events_of(state(), *job, impl_->context.notes, since), job->events.left_out,
                     job->is_final()};
}

QuotaView Core::quota_view(const QuotaHolder& holder) const {
  return launcher::quota_view(impl_->context.cluster(), holder);
}

std::string Core::why_no_more_files(const JobId& id, std::uint64_t more) const {
  const Job* job = state().job(id);
  if (job == nullptr) return "";
  return launcher::why_no_more_files(impl_->context.cluster(), job->spec, more);
}

std::optional<std::uint64_t> Core::room_for_files(const JobId& id) const {
  const Job* job = state().job(id);
  if (job == nullptr) return std::nullopt;
  return launcher::room_for_files(impl_->context.cluster(), job->spec);
}

std::string Core::whose_files() const { return launcher::whose_files(impl_->context.cluster()); }

std::vector<Refusal> Core::refusals(const JobSpec& spec, const Caller& caller,
                                    const Judging& how) const {
  return all_refusals(impl_->context.cluster(), caller, spec, how);
}

std::optional<NodeId> Core::node_with_key(const PublicKey& key) const {
  const Node* node = state().node_with_key(key);
  if (node == nullptr) return std::nullopt;
  return node->id;
}

std::vector<NodeId> Core::nodes_of(const AttemptId& id) const {
  std::vector<NodeId> nodes;
  if (const Attempt* attempt = state().attempt(id))
    for (const Part& part : attempt->parts) nodes.push_back(part.node);
  return nodes;
}

}  // namespace lockstep::launcher
