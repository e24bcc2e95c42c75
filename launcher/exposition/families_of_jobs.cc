#include "launcher/exposition/families.h"

namespace lockstep::launcher {
namespace {

using Type = MetricType;
using Numbers = ClusterNumbers;
using Writer = ExpositionWriter;

}  // namespace

std::span<const ExposedFamily> families_of_jobs() {
  static const std::vector<ExposedFamily> kFamilies{
      {{"lockstep_jobs",
        Type::gauge,
        "",
        {"target", "status"},
        "Jobs that the launcher remembers, by status"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets)
           for (const auto& [status, count] : one.jobs) w.add({one.name, status}, count);
       }},
      {{"lockstep_jobs_submitted", Type::counter, "", {"target"}, "Jobs that were submitted"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.jobs_submitted);
       }},
      {{"lockstep_jobs_ended",
        Type::counter,
        "",
        {"target", "status"},
        "Jobs that have ended, by status"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets)
           for (const auto& [status, count] : one.jobs_ended) w.add({one.name, status}, count);
       }},
      {{"lockstep_attempts_ended",
        Type::counter,
        "",
        {"target", "cause"},
        "Attempts that have ended, by cause"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets)
           for (const auto& [cause, count] : one.attempts_ended) w.add({one.name, cause}, count);
       }},
      {{"lockstep_job_wait_seconds",
        Type::histogram,
        "seconds",
        {"target"},
        "How long jobs waited from when they could be placed until they were"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.wait_seconds);
       }},
      {{"lockstep_job_start_seconds",
        Type::histogram,
        "seconds",
        {"target"},
        "How long it took from the placement of an attempt until all its ranks ran"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.start_seconds);
       }},
      {{"lockstep_oldest_wait_seconds",
        Type::gauge,
        "seconds",
        {"target"},
        "How long the job that waits longest has waited"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.oldest_wait_seconds);
       }},
      {{"lockstep_user_jobs_waiting",
        Type::gauge,
        "",
        {"user", "project"},
        "Jobs of a user that wait to be placed"},
       [](const Numbers& n, Writer& w) {
         for (const UserNumbers& one : n.users) w.add({one.user, one.project}, one.jobs_waiting);
       }},
      {{"lockstep_user_jobs_running",
        Type::gauge,
        "",
        {"user", "project"},
        "Jobs of a user that are placed and have not ended"},
       [](const Numbers& n, Writer& w) {
         for (const UserNumbers& one : n.users) w.add({one.user, one.project}, one.jobs_running);
       }},
      {{"lockstep_user_nodes_held",
        Type::gauge,
        "",
        {"user", "project"},
        "Nodes that jobs of a user hold"},
       [](const Numbers& n, Writer& w) {
         for (const UserNumbers& one : n.users) w.add({one.user, one.project}, one.nodes_held);
       }},
      {{"lockstep_user_cpus_held",
        Type::gauge,
        "",
        {"user", "project"},
        "Cpus that jobs of a user hold"},
       [](const Numbers& n, Writer& w) {
         for (const UserNumbers& one : n.users) w.add({one.user, one.project}, one.cpus_held);
       }},
      {{"lockstep_user_gpus_held",
        Type::gauge,
        "",
        {"user", "project"},
        "GPUs that jobs of a user hold"},
       [](const Numbers& n, Writer& w) {
         for (const UserNumbers& one : n.users) w.add({one.user, one.project}, one.gpus_held);
       }},
      {{"lockstep_job_running_seconds",
        Type::gauge,
        "seconds",
        {"job", "user", "target"},
        "How long the last attempt of a running job has run"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs)
           w.add({one.job, one.user, one.target}, one.running_seconds);
       }},
      {{"lockstep_job_nodes",
        Type::gauge,
        "",
        {"job", "user", "target"},
        "Nodes that a running job holds"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs) w.add({one.job, one.user, one.target}, one.nodes);
       }},
      {{"lockstep_job_ranks", Type::gauge, "", {"job", "user", "target"}, "Ranks of a running job"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs) w.add({one.job, one.user, one.target}, one.ranks);
       }},
      {{"lockstep_job_cpus_held",
        Type::gauge,
        "",
        {"job", "user", "target"},
        "Cpus that a running job holds"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs) w.add({one.job, one.user, one.target}, one.cpus_held);
       }},
      {{"lockstep_job_gpus_held",
        Type::gauge,
        "",
        {"job", "user", "target"},
        "GPUs that a running job holds"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs) w.add({one.job, one.user, one.target}, one.gpus_held);
       }},
      {{"lockstep_job_cpus_busy",
        Type::gauge,
        "",
        {"job", "user", "target"},
        "Cpus that the ranks of a running job use"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs)
           if (one.use) w.add({one.job, one.user, one.target}, one.use->cpus_busy);
       }},
      {{"lockstep_job_gpus_busy",
        Type::gauge,
        "",
        {"job", "user", "target"},
        "GPUs that a running job keeps busy"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs)
           if (one.use) w.add({one.job, one.user, one.target}, one.use->gpus_busy);
       }},
      {{"lockstep_job_memory_used_bytes",
        Type::gauge,
        "bytes",
        {"job", "user", "target"},
        "Memory that the ranks of a running job use"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs)
           if (one.use) w.add({one.job, one.user, one.target}, one.use->memory.count);
       }},
      {{"lockstep_job_silent_seconds",
        Type::gauge,
        "seconds",
        {"job", "user", "target"},
        "How long the ranks of a running job have written nothing and used no cpu"},
       [](const Numbers& n, Writer& w) {
         for (const JobNumbers& one : n.jobs)
           if (one.use) w.add({one.job, one.user, one.target}, one.use->silent_seconds);
       }},
  };
  return kFamilies;
}

}  // namespace lockstep::launcher
