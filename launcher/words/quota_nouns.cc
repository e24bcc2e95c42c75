#include "launcher/words/quota_nouns.h"

namespace lockstep::words {

std::string_view noun_of(QuotaLimit limit) {
  switch (limit) {
    case QuotaLimit::queued_jobs: return "queued jobs";
    case QuotaLimit::running_jobs: return "running jobs";
    case QuotaLimit::nodes: return "nodes";
    case QuotaLimit::cpus: return "cpus";
    case QuotaLimit::gpus: return "gpus";
    case QuotaLimit::snapshot_bytes: return "source";
    case QuotaLimit::spec_bytes: return "texts and variables of jobs";
    case QuotaLimit::versions: return "registered versions";
    case QuotaLimit::version_bytes: return "definitions of registered versions";
    case QuotaLimit::version_files: return "files of registered versions";
    case QuotaLimit::job_files: return "files of jobs";
    case QuotaLimit::kept_jobs: return "ended jobs";
  }
  return "?";
}

}  // namespace lockstep::words
