#include "launcher/state/people/usage.h"

#include <algorithm>

#include "common/domain/job/pipeline.h"
#include "common/domain/people/access.h"

namespace lockstep::launcher {
namespace {

std::size_t bytes_of(const std::map<std::string, std::string>& map) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : map) bytes += name.size() + value.size();
  return bytes;
}

std::size_t bytes_of(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return shell->text.size();
  std::size_t bytes = 0;
  for (const std::string& word : std::get<Argv>(command).words) bytes += word.size();
  return bytes;
}

}  // namespace

Usage& Usage::operator+=(const Usage& other) {
  queued += other.queued;
  running += other.running;
  nodes += other.nodes;
  cpus += other.cpus;
  gpus += other.gpus;
  spec_bytes += other.spec_bytes;
  versions += other.versions;
  version_bytes += other.version_bytes;
  version_files += other.version_files;
  job_files += other.job_files;
  kept_jobs += other.kept_jobs;
  return *this;
}

Usage operator-(const Usage& usage) {
  return {-usage.queued,        -usage.running,      -usage.nodes,    -usage.cpus,
          -usage.gpus,          -usage.spec_bytes,   -usage.versions, -usage.version_bytes,
          -usage.version_files, 0 - usage.job_files, -usage.kept_jobs};
}

std::uint64_t of(const Usage& usage, QuotaLimit limit) {
  std::int64_t value = 0;
  switch (limit) {
    case QuotaLimit::queued_jobs: value = usage.queued; break;
    case QuotaLimit::running_jobs: value = usage.running; break;
    case QuotaLimit::nodes: value = usage.nodes; break;
    case QuotaLimit::cpus: value = usage.cpus; break;
    case QuotaLimit::gpus: value = usage.gpus; break;
    case QuotaLimit::spec_bytes: value = usage.spec_bytes; break;
    case QuotaLimit::versions: value = usage.versions; break;
    case QuotaLimit::version_bytes: value = usage.version_bytes; break;
    case QuotaLimit::version_files: value = usage.version_files; break;
    case QuotaLimit::job_files: value = static_cast<std::int64_t>(usage.job_files); break;
    case QuotaLimit::kept_jobs: value = usage.kept_jobs; break;
    case QuotaLimit::snapshot_bytes: break;
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

QuotaHolders holders_of(const std::string& user, const std::string& project) {
  return {QuotaHolder{QuotaHolder::Kind::user, user},
          QuotaHolder{QuotaHolder::Kind::project,
                      project.empty() ? std::string(kDefaultProject) : project}};
}

QuotaHolders holders_of(const JobSpec& spec) { return holders_of(spec.submitter, spec.project); }

std::int64_t spec_bytes(const JobSpec& spec) {
  std::size_t of_data = 0;
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps)
      of_data += step.name.size() + static_cast<std::size_t>(spec_bytes(step.spec));
  for (const DataInput& input : spec.data) of_data += bytes_of(input);
  const std::size_t bytes = of_data + bytes_of(spec.environment_variables) + bytes_of(spec.tags) +
                            bytes_of(spec.inputs) + bytes_of(spec.command) +
                            spec.description.size();
  return static_cast<std::int64_t>(bytes - std::min<std::size_t>(bytes, kFreeSpecBytes));
}

bool SourceTable::add(const QuotaHolder& holder, const JobSource& source) {
  return ++jobs_[{holder, source}] == 1;
}

bool SourceTable::remove(const QuotaHolder& holder, const JobSource& source) {
  const auto found = jobs_.find({holder, source});
  if (found == jobs_.end() || --found->second > 0) return false;
  jobs_.erase(found);
  return true;
}

bool SourceTable::has(const QuotaHolder& holder, const Digest& tree) const {
  const auto found = jobs_.lower_bound({holder, JobSource{tree, {}}});
  return found != jobs_.end() && found->first.first == holder && found->first.second.tree == tree;
}

void UsageTable::add(QuotaHolders holders, const Usage& change) {
  for (QuotaHolder& holder : holders) add(std::move(holder), change);
}

void UsageTable::add(QuotaHolder holder, const Usage& change) {
  const auto entry = usages_.try_emplace(std::move(holder)).first;
  entry->second += change;
  if (entry->second == Usage{}) usages_.erase(entry);
}

Usage UsageTable::of(const QuotaHolder& holder) const {
  const auto found = usages_.find(holder);
  return found == usages_.end() ? Usage{} : found->second;
}

}  // namespace lockstep::launcher
