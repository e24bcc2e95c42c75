#pragma once
// What MLflow's clients ask, as values. A job is a run of its name; runs that a program begins
// inside of it are named after it with a dot (common/domain/runs/run.h). Who may do what, and which
// run a new one is inside of, others decide.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/time.h"
#include "common/domain/runs/change.h"
#include "common/domain/runs/run.h"

namespace lockstep::mlflow {

using metrics::RunId;

// A list ends with a token, with which its next page is asked for.
struct Page {
  std::size_t limit = 0;
  std::string token = {};  // "": the first page
  friend bool operator==(const Page&, const Page&) = default;
};
inline constexpr std::size_t kMaxPageTokenBytes = 1'024;

enum class View { active, deleted, all };

struct CreateExperiment {
  std::string name;
  friend bool operator==(const CreateExperiment&, const CreateExperiment&) = default;
};
struct GetExperiment {
  std::string id;
  friend bool operator==(const GetExperiment&, const GetExperiment&) = default;
};
struct GetExperimentByName {
  std::string name;
  friend bool operator==(const GetExperimentByName&, const GetExperimentByName&) = default;
};
struct SearchExperiments {
  View view = View::active;
  Page page;
  friend bool operator==(const SearchExperiments&, const SearchExperiments&) = default;
};

struct CreateRun {
  std::string experiment_id;
  std::string name = {};  // "": the launcher finds one
  Instant started = {};   // ns = 0: now
  std::map<std::string, std::string> tags = {};
  // The run that it is inside of, as its tags say; absent: they do not.
  std::optional<RunId> parent = {};
  friend bool operator==(const CreateRun&, const CreateRun&) = default;
};
struct GetRun {
  RunId run;
  friend bool operator==(const GetRun&, const GetRun&) = default;
};
// What is absent stays as it is.
struct UpdateRun {
  RunId run;
  std::optional<metrics::RunStatus> status = {};
  std::optional<Instant> ended = {};
  std::optional<std::string> name = {};
  friend bool operator==(const UpdateRun&, const UpdateRun&) = default;
};
struct DeleteRun {  // or, with `restore`, undoes that
  RunId run;
  bool restore = false;
  friend bool operator==(const DeleteRun&, const DeleteRun&) = default;
};
// Points, params and tags. Whoever passes it on fills in the attempt and the rank.
struct Log {
  metrics::LogBatch batch;
  friend bool operator==(const Log&, const Log&) = default;
};
// What a run was trained with, as far as clients tell it.
struct LogInputs {
  struct Dataset {
    std::string name, digest, source_type;
    friend bool operator==(const Dataset&, const Dataset&) = default;
  };
  RunId run;
  std::vector<Dataset> datasets;
  friend bool operator==(const LogInputs&, const LogInputs&) = default;
};
struct LogModel {  // of clients 2.x: the text of the file MLmodel, as JSON
  RunId run;
  std::string model;
  friend bool operator==(const LogModel&, const LogModel&) = default;
};
// The filter and the orders can be read by launcher/metrics/search.
struct SearchRuns {
  std::vector<std::string> experiment_ids;
  std::string filter = {};
  std::vector<std::string> order_by = {};
  View view = View::active;
  Page page;
  friend bool operator==(const SearchRuns&, const SearchRuns&) = default;
};
struct GetHistory {
  RunId run;
  std::string metric;
  Page page;
  friend bool operator==(const GetHistory&, const GetHistory&) = default;
};
struct ListArtifacts {
  RunId run;
  std::string path = {};  // "": the top
  Page page;
  friend bool operator==(const ListArtifacts&, const ListArtifacts&) = default;
};

using Call = std::variant<CreateExperiment, GetExperiment, GetExperimentByName, SearchExperiments,
                          CreateRun, GetRun, UpdateRun, DeleteRun, Log, LogInputs, LogModel,
                          SearchRuns, GetHistory, ListArtifacts>;

}  // namespace lockstep::mlflow
