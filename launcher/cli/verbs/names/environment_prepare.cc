#include <fmt/format.h>
#include <algorithm>

#include "common/domain/environment/container_places.h"
#include "common/io/process.h"
#include "launcher/cli/follow/follower.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/job/file_request.h"
#include "launcher/cli/submit/submit_and_watch.h"
#include "launcher/cli/verbs/names/environment_prepare.h"
#include "launcher/files/environment/conda_lock.h"

namespace lockstep::cli {

namespace {

// The memory of the job that prepares the environment; it runs `true`.
constexpr Bytes kPrepareMemory = mebibytes(64);

Result<int> usable_nodes(Connection& connection) {
  TRY_ASSIGN(const NodesReply reply, connection.ask_for<NodesReply>(ListNodes{}));
  const auto count =
      std::count_if(reply.nodes.begin(), reply.nodes.end(), [](const NodeView& node) {
        return node.liveness == Liveness::alive && !node.draining && !node.waits_for_approval;
      });
  if (count == 0)
    return make_error(ErrorCode::unavailable,
                      "environment prepare: no node can take jobs; see `lockstep node list`");
  return static_cast<int>(std::min<std::ptrdiff_t>(count, kMaxNodesPerJob));
}

JobSpec preparing_job(EnvironmentSpec environment, int nodes, const std::string& project) {
  JobSpec spec;
  spec.project = project;
  const std::string what = environment.name.empty()
                               ? digest_of(environment.definition).hex().substr(0, 12)
                               : environment.name.substr(0, 100);
  spec.name = fmt::format("prepare-{}-{:08x}", what, static_cast<std::uint32_t>(io::random_u64()));
  // Names of environments may have dots, names of jobs may not.
  std::replace(spec.name.begin(), spec.name.end(), '.', '_');
  spec.experiment_name = "Default";
  spec.description = "prepares an environment on its nodes";
  // An image may lack `true`.
  const bool is_image = std::holds_alternative<DockerEnvironment>(environment.definition);
  spec.command = is_image ? Argv{{kSpawnInside, "--nothing"}} : Argv{{"true"}};
  spec.resources.instance_count = nodes;
  spec.resources.cpus = 1;
  spec.resources.gpus = 0;
  spec.resources.memory = kPrepareMemory;
  spec.environment = std::move(environment);
  return spec;
}

// Whether the launcher would accept the job. Errors in the definition itself only show on the
// nodes.
CheckJobFile question_of(const EnvironmentOptions& options, const spec::EnvironmentChoice& choice) {
  CheckJobFile question;
  question.spec = preparing_job({}, options.nodes.value_or(1), options.project);
  question.spec->environment.reset();
  question.wait_anyway = options.wait_anyway;
  if (options.nodes)
    question.places["resources.instance_count"] = fmt::format("-N {}", *options.nodes);
  if (!options.project.empty())
    question.places["lockstep.project"] = "--project " + options.project;
  if (const auto* named = std::get_if<spec::EnvironmentReference>(&choice)) {
    question.environment = named->text;
    question.places["environment"] = named->where;
  }
  return question;
}

}  // namespace

int prepare(Context& context, const EnvironmentOptions& options) {
  spec::Notes notes;
  const auto choice = environment_named(options.file, "environment prepare: -f", notes);
  if (!choice) return fail_with_all(context.terminal, choice.error());
  if (!options.quiet) show(context.terminal, notes);
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  const CheckJobFile question = question_of(options, *choice);
  const auto refused = [&](const Error& error) {
    return fail_with_all_of(context, **connection, question, error, kExitLockstepFailed);
  };
  auto environment = resolve(**connection, *choice);
  if (!environment) return refused(environment.error());
  const auto nodes = options.nodes ? Result<int>(*options.nodes) : usable_nodes(**connection);
  if (!nodes) return fail(context.terminal, nodes.error(), kExitLockstepFailed);
  Submission submission;
  submission.spec = preparing_job(std::move(environment->spec), *nodes, options.project);
  submission.rebuild = options.rebuild;
  submission.build = std::move(environment->build);
  submission.waits = true;
  submission.wait_anyway = options.wait_anyway;
  WatchOptions watch{true, options.quiet, 0, options.format};
  watch.environment_log = true;
  return submit_and_watch(context, **connection, std::move(submission), watch, kExitLockstepFailed,
                          refused);
}

}  // namespace lockstep::cli
