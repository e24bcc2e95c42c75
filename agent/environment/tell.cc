#include <fmt/format.h>

#include "agent/environment/build.h"
#include "agent/environment/container_engine.h"
#include "common/base/cut.h"
#include "common/domain/why/ranks/parts.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {
namespace {

Status put_into_plan(const io::AttemptDir& directory, const Activation& activation) {
  TRY_ASSIGN(const std::string bytes, io::read_file(directory.workspace()));
  TRY_ASSIGN(WorkspacePlan plan, wire::decode_workspace_plan(bytes));
  plan.activation = activation;
  return io::write_file_atomically(directory.workspace(), wire::encode(plan), 0600, false);
}

EnvironmentReport report_of(EnvironmentReport::Step step, const EnvironmentTarget& target) {
  EnvironmentReport report;
  report.step = step;
  report.generation = target.generation;
  report.platform = target.platform;
  return report;
}

std::string image_of(const EnvironmentTarget& target) {
  const auto* docker = std::get_if<DockerEnvironment>(&target.definition);
  if (docker == nullptr) return "";
  return docker->build ? "built from " + docker->build->dockerfile : docker->image;
}

// Checks that the container has a shell: a command of one text needs one, and a container has only
// the shells of its image.
Status check_shell(const Command& command, const EnvironmentTarget& target,
                   const Activation& activation) {
  const auto& container = activation.container;
  if (!container || !container->shell.empty() || !std::holds_alternative<ShellCommand>(command))
    return {};
  return make_error(
      ErrorCode::unsupported,
      fmt::format(
          "the image {} has no shell (/bin/bash, /bin/sh) for the command: give the command as "
          "words (lockstep run … -- PROGRAM WORDS), or use an image with a shell",
          image_of(target)));
}

}  // namespace

Result<ImageHere> look_for_its_image(const EnvironmentTarget& target,
                                     const BuiltEnvironment& built) {
  const auto& container = built.activation.container;
  if (!container) return ImageHere{true, ""};
  const auto* docker = std::get_if<DockerEnvironment>(&target.definition);
  // The image itself is used, without changes.
  const bool is_itself = docker != nullptr && !docker->conda;
  return look_for_image({container->engine, container->variables}, container->image,
                        is_itself ? docker->image : "");
}

bool is_lasting(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::permission_denied:
    case ErrorCode::unsupported:
    case ErrorCode::corrupt: return true;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
    case ErrorCode::conflict:
    case ErrorCode::io:
    case ErrorCode::internal:
    case ErrorCode::unsatisfiable: return false;
  }
  return false;
}

void tell_ready(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                const EnvironmentTarget& target, const BuiltEnvironment& built, std::string how) {
  const AttemptId attempt = subscriber->wanted().attempt;
  if (subscriber->has_left()) return;
  const Command command = subscriber->wanted().spec.command;
  if (const Status shell = check_shell(command, target, built.activation); !shell)
    return tell_failed(parts, subscriber, shell.error(), Cause::environment_failed);
  if (const Status put = put_into_plan(subscriber->directory(), built.activation); !put)
    return tell_failed(parts, subscriber, put.error(), Cause::start_failed);
  EnvironmentReport report = report_of(EnvironmentReport::Step::ready, target);
  report.lock = target.lock;
  report.key = target.key;
  report.how = std::move(how);
  parts.tell(subscriber, EnvironmentChanged{attempt, std::move(report), subscriber->log_bytes()});
}

void tell_failed(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const Error& error, Cause cause) {
  subscriber->say("failed: " + error.message);
  parts.tell(subscriber, EnvironmentFailed{subscriber->wanted().attempt, error, cause,
                                           subscriber->log_bytes()});
}

void tell_failed_before(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                        const EnvironmentTarget& target, const RememberedFailure& failure) {
  subscriber->say(fmt::format(
      "failed: the {} failed before, on {} for job {}, and is not tried again unchanged: change "
      "the definition, or submit the job with --rebuild. {}",
      described(target), for_people(failure.at), failure.job, failure.error.message));
  parts.tell(subscriber,
             EnvironmentFailed{subscriber->wanted().attempt, failure.error,
                               Cause::environment_failed, subscriber->log_bytes(),
                               EnvironmentFailedBefore{described(target), failure.at,
                                                       JobId(failure.job), failure.error.message}});
}

void tell_reused(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const BuiltEnvironment& built) {
  subscriber->say(fmt::format("{}: reused, built {} by job {}", described(target),
                              for_people(built.at), built.job));
  tell_ready(parts, subscriber, target, built, "was ready since " + for_people(built.at));
}

void tell_wants_lock(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentTarget& target) {
  subscriber->say(
      fmt::format("waiting for a node to solve the environment for {}", target.platform));
  const AttemptId attempt = subscriber->wanted().attempt;
  parts.tell(subscriber,
             EnvironmentChanged{attempt, report_of(EnvironmentReport::Step::wants_lock, target),
                                subscriber->log_bytes()});
  parts.tell(subscriber,
             EnvironmentProgress{attempt, "waiting for a node to solve the environment"});
}

void tell_cannot_solve(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                       const EnvironmentTarget& target, const Error& error) {
  subscriber->say("this node cannot solve the environment; another node of the job tries: " +
                  error.message);
  EnvironmentReport report = report_of(EnvironmentReport::Step::not_solved, target);
  report.why = told(cut(error.message, kMaxNotSolvedBytes));
  subscriber->record_not_solved(report);
  tell_not_solved(parts, subscriber, report);
}

void tell_not_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentReport& report) {
  const AttemptId attempt = subscriber->wanted().attempt;
  parts.tell(subscriber, EnvironmentChanged{attempt, report, subscriber->log_bytes()});
  parts.tell(subscriber,
             EnvironmentProgress{attempt, "waiting for another node to solve the environment"});
}

void tell_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const Digest& lock) {
  EnvironmentReport report = report_of(EnvironmentReport::Step::solved, target);
  report.lock = lock;
  subscriber->record_solved(report);
  parts.tell(subscriber,
             EnvironmentChanged{subscriber->wanted().attempt, report, subscriber->log_bytes()});
}

}  // namespace lockstep::agent
