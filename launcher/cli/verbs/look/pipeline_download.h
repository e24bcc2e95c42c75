#pragma once
// Downloads the results of a pipeline into a folder of its name: its own outputs, and of each step,
// if all are wanted, what `job download` brings of the step's job.

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/transfer/download.h"

namespace lockstep::cli {

struct PipelineDownloadRequest {
  std::string folder;                // the pipeline's own folder is made in it
  bool steps = false;                // also the files of each step
  std::optional<std::string> named;  // downloads only this output of the pipeline
};

struct PipelineDownloaded {
  std::vector<DownloadedTree> trees;  // paths below `folder`
  std::vector<LogFile> logs;          // names are paths below `folder`
  std::vector<std::string> problems;
  // The notes for people: the jobs whose files replace a step's; a folder that could not be marked.
  std::vector<std::string> notes;
  bool is_marked = true;
};

// The pipeline's merged outputs that have files; an error names those that it has.
Result<DownloadPlan> plan_pipeline_download(const JobView& job,
                                            const std::optional<std::string>& named);

Result<PipelineDownloaded> download_pipeline(Connection& connection, const JobView& job,
                                             const PipelineDownloadRequest& request,
                                             const OnText& progress);

}  // namespace lockstep::cli
