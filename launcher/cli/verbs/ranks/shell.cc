// `lockstep job shell`: runs a shell or another program beside a rank of a running job.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "common/base/printable.h"
#include "launcher/cli/attach/ranks_meant.h"
#include "launcher/cli/attach/session_loop.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/terminal/raw_terminal.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kExamples = R"(
  lockstep job shell NAME                       a shell beside rank 0
  lockstep job shell @last --rank 3
  lockstep job shell sweep/7 -- nvidia-smi      a program, without a terminal
  lockstep job shell NAME -t -- htop            with one
  lockstep job shell NAME -- tar c outputs | tar x
  lockstep job shell NAME --main                rank 0's own terminal (lockstep.terminal)

The program has the user, container, cgroup, variables and working directory of the rank. It ends
with the job. With a terminal, ~. at the start of a line leaves. Without one, Ctrl-C goes to the
program, and a second one leaves. Whoever leaves ends what runs.

Exit codes: the program's; 128+n killed by signal n; 125 Lockstep failed or refused it, or ~.;
126 not executable; 127 not found; 129 SIGHUP; 130 Ctrl-C twice; 141 standard output was closed;
2 the command line is wrong.)";

struct ShellOptions {
  std::string name;
  RankChoice choice;
  bool terminal = false, no_terminal = false;
  bool main = false;  // use the streams of rank 0 itself
  std::vector<std::string> command;
};

bool has_terminals() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

// Whether the program gets a terminal: a shell does if there is one here, another program only if
// asked for.
bool wants_terminal(const ShellOptions& options) {
  if (options.no_terminal) return false;
  return options.terminal || (options.command.empty() && has_terminals());
}

AttachOrder order_of(const ShellOptions& options, bool is_terminal) {
  if (options.main) return AttachMain{terminal_size(STDIN_FILENO)};
  AttachProgram program;
  program.argv = options.command;
  program.takes_input = true;
  program.terminal = is_terminal;
  if (!is_terminal) return program;
  program.size = terminal_size(STDIN_FILENO);
  const char* term = std::getenv("TERM");
  program.term = term == nullptr ? "" : term;
  return program;
}

Status check(const ShellOptions& options, const JobView& job) {
  const bool main = options.main;
  const TerminalKind has = job.spec.terminal;
  if (main && has == TerminalKind::none)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("job shell: --main: rank 0 of {} has no terminal of its own; a "
                                  "job has one with lockstep.terminal: pty, or stdin",
                                  job.spec.name));
  if (main && has == TerminalKind::pty && !has_terminals())
    return make_error(ErrorCode::invalid_argument,
                      "job shell: --main: rank 0 has a terminal, so this needs one as standard "
                      "input and output");
  return {};
}

int refuse(Context& context, const Error& error) {
  return fail(context.terminal, error, exit_code_of_choice(error, kExitLockstepFailed));
}

int code_of(Context& context, const JobView& job, const AttachOutcome& outcome) {
  const std::string& name = job.spec.name;
  switch (outcome.how) {
    case AttachOutcome::How::ended:
      if (!outcome.end.message.empty())
        context.terminal.print_line(fmt::format("{}: {}", name, in_one_line(outcome.end.message)));
      return outcome.end.code;
    case AttachOutcome::How::refused:
      context.terminal.print_line(
          fmt::format("job shell: {}: {}", name, in_one_line(outcome.error->message)));
      return kExitLockstepFailed;
    case AttachOutcome::How::left:
      context.terminal.print_line(
          fmt::format("left {}; what ran in this session is ended, the job continues", name));
      return outcome.signal == 0 ? kExitLockstepFailed : 128 + outcome.signal;
    case AttachOutcome::How::output_closed: return kExitOutputClosed;
  }
  return kExitLockstepFailed;
}

int shell(Context& context, const ShellOptions& options) {
  if (options.terminal && !has_terminals())
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument,
                           "job shell: -t needs a terminal as standard input and output; without "
                           "-t, pipes and files are passed on as they are"),
                kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  const auto job = running_job(**connection, "job shell", options.name);
  if (!job) return refuse(context, job.error());
  RankChoice choice = options.choice;
  if (!choice.rank && choice.node.empty()) choice.rank = 0;
  const auto nodes = chosen_ranks("job shell", *job, choice);
  if (!nodes) return refuse(context, nodes.error());
  if (const Status fits = check(options, *job); !fits) return refuse(context, fits.error());
  AttachOptions attachment;
  attachment.is_terminal =
      options.main ? job->spec.terminal == TerminalKind::pty : wants_terminal(options);
  attachment.open.job = JobId(job->spec.name);
  attachment.open.rank = nodes->front().ranks.front();
  attachment.open.order = order_of(options, attachment.is_terminal);
  if (const Status good = validate(attachment.open.order); !good)
    return fail(context.terminal, good.error().within("job shell"), kExitUsage);
  if (attachment.is_terminal)
    attachment.greeting = [name = job->spec.name](const AttachOpened& opened) {
      return fmt::format("attached to rank {} of {} on {}; ~. leaves", opened.rank, name,
                         in_one_line(opened.node));
    };
  attachment.how_to_start = [&context] { return how_to_start(context.home); };
  hold_interrupts(true);
  const auto outcome = attach(
      **connection, context.terminal, [&context] { return context.find_endpoint(); }, attachment);
  if (!outcome) return fail(context.terminal, outcome.error(), kExitLockstepFailed);
  return code_of(context, *job, *outcome);
}

}  // namespace

void add_shell_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb = table.add_below(
      group, "shell", "shell NAME [-- COMMAND...]: a shell or a program beside a rank that runs");
  if (verb == nullptr) return;
  const auto options = std::make_shared<ShellOptions>();
  verb->footer(kExamples);
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  add_rank_or_node(*verb, options->choice);
  auto* terminal = verb->add_flag("-t,--tty", options->terminal,
                                  "a terminal for COMMAND, too (a shell has one at a terminal)");
  verb->add_flag("-T,--no-tty", options->no_terminal, "none for a shell: it reads its commands")
      ->excludes(terminal);
  verb->add_flag(
      "--main", options->main,
      "the terminal or standard input of rank 0 itself, of a job with lockstep.terminal");
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, options] {
    if (options->main && (!table.command.empty() || options->choice.rank.value_or(0) != 0))
      throw CLI::ValidationError("--main",
                                 "it is rank 0's own program, so it takes no COMMAND and "
                                 "no other rank");
    options->command = table.command;
    table.action = [options](Context& context) { return shell(context, *options); };
  });
}

}  // namespace lockstep::cli
