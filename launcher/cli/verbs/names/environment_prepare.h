#pragma once
// lockstep environment prepare: a job of `true` on every node builds the environment.

#include <optional>
#include <string>

#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {

// The options of all verbs of `lockstep environment`.
struct EnvironmentOptions {
  std::string name;     // create: over the file; list, show: which
  std::string version;  // create: over the file; list, show: which
  std::string label;    // show
  std::string file;     // create: a path; prepare: a path or a reference
  std::string project;  // create, prepare
  bool include_archived = false, archived_only = false;  // list
  std::optional<int> nodes;
  bool rebuild = false;
  bool quiet = false;
  bool wait_anyway = false;  // submits even if the job waits in vain
  std::string unused_for = "7d";
  std::string job;
  std::optional<int> node_rank;
  bool follow = false;
  bool raw = false;  // log
  Format format = Format::table;
};

int prepare(Context& context, const EnvironmentOptions& options);

}  // namespace lockstep::cli
