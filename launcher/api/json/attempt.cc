#include "launcher/api/json/job_impl.h"

#include "common/domain/people/access.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/pipeline.h"
#include "launcher/api/json/usage.h"
#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"

namespace lockstep::api {

namespace {

const char* word_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::outputs: return "outputs";
    case OutputKind::logs: return "logs";
    case OutputKind::named: return "named";
    case OutputKind::checkpoint: return "checkpoint";
    case OutputKind::kept: return "kept";
  }
  return "outputs";
}

Json output_json(const CollectedOutput& output) {
  Json json;
  json["kind"] = word_of(output.kind);
  json["name"] = output.kind == OutputKind::named ? Json(output.name) : Json(nullptr);
  json["digest"] = output.tree ? Json(output.tree->hex()) : Json(nullptr);
  json["files"] = output.files;
  json["size"] = output.size.count;
  json["partial"] = output.partial;
  json["problems"] = output.problems;
  return json;
}

Json not_kept_json(const NotKept& not_kept) {
  Json json;
  json["names"] = not_kept.names;
  json["more"] = not_kept.more;
  json["files"] = not_kept.files;
  json["size"] = not_kept.size.count;
  json["at_least"] = not_kept.at_least;
  return json;
}

Json rank_states_of(const PartView& part) {
  Json json = Json::array();
  for (const RankView& rank : ranks_of(part)) {
    const bool has_code = rank.state == RankState::exited || rank.state == RankState::killed ||
                          rank.state == RankState::terminated;
    json.push_back({{"rank", rank.rank},
                    {"state", std::string(to_string(rank.state))},
                    {"exit_code", has_code ? Json(rank.end.exit_code) : Json(nullptr)},
                    {"ended", has_code ? time_or_null(rank.end.time) : Json(nullptr)}});
  }
  return json;
}

Json part_json(const PartView& part) {
  Json json;
  json["node_name"] = part.node_name;
  json["node_rank"] = part.node_rank;
  json["first_rank"] = part.first_rank;
  json["ranks"] = part.ranks;
  json["state"] = std::string(to_string(part.state));
  json["progress"] = part.progress;
  json["reason_data"] = reason_json(part.why);
  json["limits"] = part.limits;
  json["limits_data"] = reasons_json(part.limits_why);
  json["notes"] = part.notes;
  json["notes_data"] = reasons_json(part.notes_why);
  json["cpus"] = part.allotment.cpus;
  json["memory"] = part.allotment.memory.count;
  json["gpus"] = part.allotment.gpus;
  json["outputs"] = Json::array();
  for (const auto& output : part.outputs) json["outputs"].push_back(output_json(output));
  const bool names_any = part.not_kept && !part.not_kept->names.empty();
  json["not_kept"] = names_any ? not_kept_json(*part.not_kept) : Json(nullptr);
  json["logs_not_kept"] = part.lost_logs ? Json(part.lost_logs->count) : Json(nullptr);
  json["environment"] = part.environment ? to_json(*part.environment) : Json(nullptr);
  json["use"] = part.use ? to_json(*part.use) : Json(nullptr);
  json["used"] = totals_of(part.used);
  json["rank_states"] = rank_states_of(part);
  json["settings"] = settings_json(part.settings);
  return json;
}

Json checkpoint_json(const CheckpointView& checkpoint) {
  Json json;
  json["job"] = checkpoint.job.value.empty() ? Json(nullptr) : Json(checkpoint.job.value);
  json["attempt"] = checkpoint.attempt;
  json["saved"] = time_or_null(checkpoint.saved);
  json["digest"] = checkpoint.tree ? Json(checkpoint.tree->hex()) : Json(nullptr);
  json["files"] = checkpoint.files;
  json["size"] = checkpoint.size.count;
  return json;
}

}  // namespace

Json attempt_json(const std::string& job, const AttemptView& attempt) {
  Json json;
  json["number"] = attempt.number;
  json["placed"] = time_or_null(attempt.placed);
  json["started"] = time_or_null(attempt.started);
  json["ended"] = time_or_null(attempt.ended);
  json["parts"] = Json::array();
  for (const auto& part : attempt.parts) json["parts"].push_back(part_json(part));
  json["report"] = attempt.report ? to_json(*attempt.report) : Json(nullptr);
  json["retried"] = attempt.retried.empty() ? Json(nullptr) : Json(attempt.retried);
  json["reason_data"] = reason_json(attempt.why);
  json["checkpoint"] = attempt.checkpoint ? checkpoint_json(*attempt.checkpoint) : Json(nullptr);
  const words::About names = names_in(job, attempt);
  json["found"] = found_list_json(attempt.found, names);
  json["probe"] = attempt.probe ? probe_json(*attempt.probe, names) : Json(nullptr);
  return json;
}

}  // namespace lockstep::api
