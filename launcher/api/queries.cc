#include "launcher/api/queries.h"

#include <fmt/format.h>

#include "launcher/core/state.h"

namespace lockstep::launcher {

namespace {

Message no_such_job(const JobId& job) {
  return Refused{ErrorCode::not_found,
                 fmt::format("there is no job '{}'; `lockstep job list` shows all", job.value)};
}

struct Answerer {
  const Core& core;
  const LauncherInfo& info;

  std::optional<Message> operator()(const ListJobs& question) const {
    JobsReply reply;
    for (auto& view : core.job_views()) {
      if (!question.all && is_final(view.status)) continue;
      if (question.limit > 0 && reply.jobs.size() >= static_cast<std::size_t>(question.limit))
        break;
      reply.jobs.push_back(std::move(view));
    }
    return reply;
  }
  std::optional<Message> operator()(const ShowJob& question) const { return job(question.job); }
  std::optional<Message> operator()(const WatchJob& question) const { return job(question.job); }
  std::optional<Message> operator()(const ExplainJob& question) const {
    auto view = core.explain(question.job);
    if (!view) return no_such_job(question.job);
    return ExplainReply{std::move(*view)};
  }
  std::optional<Message> operator()(const ListNodes&) const {
    return NodesReply{core.node_views()};
  }
  std::optional<Message> operator()(const ShowNode& question) const {
    auto view = core.node_view(question.name_or_id);
    if (!view)
      return Refused{ErrorCode::not_found,
                     fmt::format("there is no node '{}'; `lockstep node list` shows all",
                                 question.name_or_id)};
    return NodesReply{{std::move(*view)}};
  }
  std::optional<Message> operator()(const GetStatus&) const {
    LauncherStatus status{
        LOCKSTEP_VERSION, info.endpoint, info.pid, info.home, info.started, {}, {}};
    for (const auto& [id, job] : core.state().jobs())
      ++status.jobs[std::string(to_string(job.status()))];
    for (const auto& node : core.node_views())
      ++status.nodes[std::string(to_string(node.liveness))];
    return StatusReply{std::move(status)};
  }
  template <typename Other>
  std::optional<Message> operator()(const Other&) const {
    return std::nullopt;
  }

  std::optional<Message> job(const JobId& id) const {
    auto view = core.job_view(id);
    if (!view) return no_such_job(id);
    return JobReply{std::move(*view)};
  }
};

}  // namespace

std::optional<Message> answer(const Core& core, const LauncherInfo& info, const Message& question) {
  return std::visit(Answerer{core, info}, question);
}

}  // namespace lockstep::launcher
