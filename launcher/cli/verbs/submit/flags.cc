// Flags of a job: shared with the members of its project, archived.

#include <CLI/CLI.hpp>

#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

using FlagRequest = ClientRequest (*)(const JobId& job);

// Changes each job separately: a refusal for one does not stop the others.
int set_flag(Context& context, const std::string& verb, const std::vector<std::string>& names,
             FlagRequest request) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  for (const std::string& name : names) {
    const auto job = job_to_change(**connection, verb, name);
    const auto reply =
        job ? (*connection)->ask_for<Done>(request(*job)) : Result<Done>(job.error());
    if (reply)
      context.terminal.print_line(reply->message);
    else
      code = fail(context.terminal, reply.error());
  }
  return code;
}

void add_verb(CLI::App& group, VerbTable table, const char* name, const char* what,
              FlagRequest request) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* const verb = table.add_below(group, name, what);
  if (verb == nullptr) return;
  auto* option = verb->add_option("-n,--name,NAME", *names, "the jobs' names");
  option->check(job_name());
  verb->parse_complete_callback([option] {
    if (option->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, name, names, request] {
    table.action = [words = "job " + std::string(name), names, request](Context& context) {
      return set_flag(context, words, *names, request);
    };
  });
}

}  // namespace

void add_share_verbs(CLI::App& group, VerbTable table) {
  add_verb(group, table, "share", "let the members of a job's project read the job",
           [](const JobId& job) -> ClientRequest {
             return ShareJob{job, true};
           });
  add_verb(group, table, "unshare", "no longer let the members of a job's project read the job",
           [](const JobId& job) -> ClientRequest {
             return ShareJob{job, false};
           });
}

void add_archive_verbs(CLI::App& group, VerbTable table) {
  add_verb(group, table, "archive",
           "leave jobs, and the steps of pipelines, out of lists; nothing else changes",
           [](const JobId& job) -> ClientRequest {
             return ArchiveJob{job, true};
           });
  add_verb(group, table, "restore", "undo an archive", [](const JobId& job) -> ClientRequest {
    return ArchiveJob{job, false};
  });
}

}  // namespace lockstep::cli
