#include "launcher/api/queries/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "common/domain/job/image_replacement.h"
#include "common/domain/messages/no_such_job.h"
#include "launcher/api/queries/environment_queries.h"
#include "launcher/core/explain/reuse.h"
#include "launcher/core/jobs/metadata.h"
#include "launcher/core/nodes/tokens.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

ClientReply refused_job(const JobId& job) {
  Error error = no_such_job(job);
  return Refused{error.code, std::move(error.message)};
}

std::size_t rough_bytes(const std::map<std::string, std::string>& map) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : map) bytes += key.size() + value.size() + 8;
  return bytes;
}

// A reason takes about four times the size of its text, since its data is sent as well, with the
// names of the fields.
std::size_t bytes_of_reason(const std::string& in_words) { return 4 * in_words.size() + 128; }

// The approximate size of a view in a message; only parts that can be large are counted exactly.
std::size_t rough_bytes(const JobView& view) {
  const JobSpec& spec = view.spec;
  std::size_t bytes = 512 + spec.description.size() + bytes_of_reason(view.reason);
  bytes += rough_bytes(spec.environment_variables) + rough_bytes(spec.tags);
  bytes += rough_bytes(spec.inputs);
  for (const DataInput& input : spec.data) bytes += bytes_of(input);
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) {
    bytes += shell->text.size();
  } else {
    for (const auto& word : std::get<Argv>(spec.command).words) bytes += word.size() + 4;
  }
  const auto of_report = [](const std::optional<ExitReport>& report) {
    if (!report) return std::size_t{0};
    std::size_t size = 64 + bytes_of_reason(report->message) + report->stderr_tail.size() +
                       4 * report->terminated_ranks.size();
    for (const PossibleFirst& other : report->also) size += 64 + bytes_of_reason(other.message);
    return size;
  };
  for (const auto& attempt : view.attempts) {
    bytes += 64 + of_report(attempt.report);
    for (const auto& part : attempt.parts)
      bytes +=
          96 + part.progress.size() + 4 * (part.allotment.cpus.size() + part.allotment.gpus.size());
  }
  return bytes + of_report(view.report);
}

struct Answerer {
  const Core& core;
  const LauncherInfo& info;
  const Viewer& viewer;

  ClientReply operator()(const ListJobs& question) const {
    if (!question.after.value.empty() && core.state().job(question.after) == nullptr)
      return refused_job(question.after);
    const auto limit = question.limit > 0 ? static_cast<std::size_t>(question.limit) : SIZE_MAX;
    const std::size_t most = std::min(limit, kMaxJobsPerPage);
    const auto wanted = [&](const Job& job) {
      return (question.all || !is_final(job.status())) && meets(question.filter, job) &&
             viewer.sees(job);
    };
    JobsReply reply;
    std::size_t bytes = 0;
    const std::set<std::uint64_t>* const among = possible(question);
    core.each_job_view(question.after, among, wanted, [&](JobView view) {
      reply.jobs.push_back(viewer.cut(std::move(view)));
      bytes += rough_bytes(reply.jobs.back());
      return reply.jobs.size() < most && bytes < kMaxPageBytes;
    });
    if (!reply.jobs.empty()) count_older(reply, among, wanted);
    return reply;
  }
  bool meets(const JobFilter& filter, const Job& job) const {
    const JobSpec& spec = job.spec;
    if (filter.archived != ArchivedToo::yes &&
        is_archived(core.state(), job) != (filter.archived == ArchivedToo::only))
      return false;
    // If the parent was deleted, a child counts as a job without a parent.
    if ((spec.is_child() ? job.child_of : spec.parent) != filter.parent) return false;
    if (filter.since.ns != 0 && job.submitted < filter.since) return false;
    if (filter.mine && spec.submitter != viewer.owner()) return false;
    if (!filter.user.empty() && spec.submitter != filter.user) return false;
    if (!filter.experiment.empty() && spec.experiment_name != filter.experiment) return false;
    if (!filter.statuses.empty() && std::find(filter.statuses.begin(), filter.statuses.end(),
                                              job.status()) == filter.statuses.end())
      return false;
    // A filter by tags must not reveal them to people who may not read the job.
    return filter.tags.empty() || (viewer.reads(job) && has_tags(spec.tags, filter.tags));
  }
  static bool has_tags(const std::map<std::string, std::string>& tags,
                       const std::vector<JobFilter::Tag>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const JobFilter::Tag& tag) {
      const auto found = tags.find(tag.key);
      return found != tags.end() && (!tag.value || *tag.value == found->second);
    });
  }
  // The smallest index that contains all jobs which may match; null: all jobs.
  const std::set<std::uint64_t>* possible(const ListJobs& question) const {
    const JobFilter& filter = question.filter;
    const JobIndex& index = core.state().index();
    const std::string user = filter.mine ? viewer.owner() : filter.user;
    const auto* const unfinished = question.all ? nullptr : &index.unfinished();
    const auto* const mine = user.empty() ? nullptr : &index.of_user(user);
    if (unfinished == nullptr || mine == nullptr) return mine != nullptr ? mine : unfinished;
    return mine->size() < unfinished->size() ? mine : unfinished;
  }
  // Counts jobs that are older than the last one of the page. Looks at a part if there are many,
  // and reports that.
  template <typename Wanted>
  void count_older(JobsReply& reply, const std::set<std::uint64_t>* among,
                   const Wanted& wanted) const {
    constexpr int kMostLookedAt = 10'000;
    int looked_at = 0;
    const Job& last = *core.state().job(JobId(reply.jobs.back().spec.name));
    core.state().each_older(last.order, among, [&](const Job& job) {
      if (wanted(job)) ++reply.more;
      reply.more_at_least = ++looked_at >= kMostLookedAt && reply.more > 0;
      return !reply.more_at_least;
    });
  }
  ClientReply operator()(const ShowJob& question) const {
    return job(question.job, ViewDetail::whole, question.with_steps);
  }
  ClientReply operator()(const WatchJob& question) const {
    const Job* known = core.state().job(question.job);
    if (known == nullptr) return refused_job(question.job);
    return job(question.job, detail_for_watchers(*known));
  }
  ClientReply operator()(const ListEvents& question) const {
    auto events = core.job_events(question.job, question.since);
    if (!events) return refused_job(question.job);
    const Job& job = *core.state().job(question.job);
    for (JobEvent& event : events->events) event = viewer.cut(std::move(event), job);
    return std::move(*events);
  }
  ClientReply operator()(const ExplainJob& question) const {
    auto view = core.explain(question.job);
    if (!view) return refused_job(question.job);
    const Job& job = *core.state().job(question.job);
    if (viewer.reads(job)) {  // the reason names values of the job file
      std::vector<ExplainLine> lines;
      for (std::string& line : image_replacement_lines(job.spec))
        lines.push_back({told(std::move(line)), {}});
      auto reuse = explain_reuse(core.state(), job,
                                 [this](const Job& other) { return viewer.reads(other); });
      for (Why& why : reuse.lines) lines.push_back({std::move(why), {}});
      view->rerun = std::move(reuse.rerun);
      view->reasons.insert(view->reasons.begin(), lines.begin(), lines.end());
      if (question.settings_of_rank)
        view->settings = core.settings_of(question.job, *question.settings_of_rank);
    }
    return ExplainReply{viewer.cut(std::move(*view))};
  }
  ClientReply operator()(const ListNodes&) const {
    NodesReply reply{core.node_views()};
    for (NodeView& node : reply.nodes) {
      node.inventory.fabric.reset();  // left out: for a thousand nodes it would be megabytes
      node = viewer.cut(compared(std::move(node)));
    }
    return reply;
  }
  ClientReply operator()(const ShowNode& question) const {
    auto view = core.node_view(question.name_or_id, question.history);
    if (!view)
      return Refused{ErrorCode::not_found,
                     fmt::format("there is no node '{}'; `lockstep node list` shows all",
                                 question.name_or_id)};
    return NodesReply{{viewer.cut(compared(*std::move(view)))}};
  }
  static NodeView compared(NodeView view) {
    view.other_version = !view.agent_version.empty() && view.agent_version != LOCKSTEP_VERSION;
    return view;
  }
  ClientReply operator()(const ListTokens&) const {
    TokensReply reply;
    for (const auto& [hash, token] : core.state().tokens()) {
      if (reply.tokens.size() >= kMaxTokens) break;
      const bool waits = token.approval == Approval::required ||
                         (token.approval == Approval::as_configured && core.config().approve_nodes);
      reply.tokens.push_back({token_id(hash), token.pool, token.machine, token.by, token.created,
                              token.expires, token.uses, token.used, waits});
    }
    std::stable_sort(reply.tokens.begin(), reply.tokens.end(),
                     [](const TokenView& a, const TokenView& b) { return a.created > b.created; });
    return reply;
  }
  ClientReply operator()(const ShowEnvironment& question) const {
    return show_environment(core.state(), question.reference, viewer);
  }
  ClientReply operator()(const ListEnvironments& question) const {
    return list_environments(core.state(), question.name, viewer, question.archived);
  }
  ClientReply operator()(const GetStatus&) const {
    LauncherStatus status{
        LOCKSTEP_VERSION,    info.endpoint,  info.pid,       info.home,      info.started, {}, {},
        core.config().keeps, info.disk_free, info.low_space, info.low_reason};
    const State& state = core.state();
    const auto count = [&](JobStatus one, std::size_t number) {
      if (number > 0) status.jobs[std::string(to_string(one))] += static_cast<int>(number);
    };
    count(JobStatus::queued, state.queue().size());
    for (const auto& [one, number] : state.index().finished())
      count(one, static_cast<std::size_t>(number));
    for (const std::uint64_t order : state.index().begun())
      count(state.job(state.submitted().at(order))->status(), 1);
    for (const auto& [id, node] : state.nodes()) {
      ++status.nodes[std::string(to_string(core.liveness(id)))];
      if (node.drain || node.notice) ++status.draining;
    }
    status.writes = info.writes;
    return StatusReply{std::move(status)};
  }

  ClientReply job(const JobId& id, ViewDetail detail, bool with_steps = false) const {
    auto view = core.job_view(id, detail);
    if (!view) return refused_job(id);
    if (with_steps) view->spec.pipeline = core.state().job(id)->spec.pipeline;
    return JobReply{viewer.cut(std::move(*view))};
  }
};

}  // namespace

ClientReply answer(const Core& core, const LauncherInfo& info, const Viewer& viewer,
                   const Query& question) {
  return std::visit(Answerer{core, info, viewer}, question);
}

ViewDetail detail_for_watchers(const Job& job) {
  const bool is_good = !job.finish() || job.finish()->status == JobStatus::completed;
  return is_good ? ViewDetail::outline : ViewDetail::whole;
}

}  // namespace lockstep::launcher
