#pragma once
// One line that lists the files that a job's ranks made and that were not kept. Pure.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// "model.pt, checkpoints/ (2 files, 41.0 MiB); write to outputs/ or use --keep", for all nodes of
// the newest attempt together; "" if all files were kept.
std::string not_kept_text(const JobView& job);

// "the last 53.0 MiB of its logs on node n1 were not kept: …", for all attempts; "": all were kept.
std::string lost_logs_text(const JobView& job);

}  // namespace lockstep::cli
