#include "launcher/cli/base/verb_table.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

namespace lockstep::cli {

namespace {

constexpr const char* kDescription = "Runs distributed training jobs on the machines you have.";

constexpr const char* kExamples = R"(
Examples:
  lockstep run -- python3 train.py                one process here, with this directory's code
  lockstep run -N 2 -n 4 --distribution pytorch -- python3 train_ddp.py
  lockstep job create -f job.yml --stream         an Azure ML command job
  lockstep job list;  lockstep job stream NAME;  lockstep job logs NAME --rank 3 --tail 20
  lockstep environment create -f env.yml;  lockstep run --environment NAME@latest -- python3 t.py
  lockstep up --nodes 2;  lockstep status;  lockstep top;  lockstep down

No set-up is needed: the first verb that needs a launcher starts one under ~/.lockstep.

Environment:
  LOCKSTEP_HOME       where the local launcher, keys and caches live (default ~/.lockstep)
  LOCKSTEP_LAUNCHER   the endpoint.json of a launcher to use instead of the local one
  LOCKSTEP_COMPUTE    the compute target of jobs that name none (default local)

Exit codes of run, job create --stream and job stream:
  the code of the first rank that failed;  124 timed out;  125 Lockstep failed or refused the job;
  126 not executable;  127 not found;  128+n killed by signal n;  129 SIGHUP (the job continues);
  130 canceled or Ctrl-C;  141 standard output was closed
Of all other verbs: 0, or 1 when it failed or was refused;  130 and 141 as above.
Of all verbs: 2 the command line or the job file is wrong, and nothing was done.)";

}  // namespace

void add_raw(CLI::App& verb, bool& raw) {
  verb.add_flag("--raw", raw,
                "on a terminal: pass control characters on, which may move the cursor, hide or "
                "replace text, or type");
}

void add_wait_anyway(CLI::App& verb, bool& wait_anyway) {
  verb.add_flag("--wait-anyway", wait_anyway,
                "wait for nodes also where no node of the target can ever run the job");
}

void add_links(CLI::App& verb, std::optional<snapshot::Links>& links) {
  verb.add_option_function<std::string>(
          "--links",
          [&links](const std::string& word) {
            if (word != "follow" && word != "keep")
              throw CLI::ValidationError("--links", "'" + word + "' is not follow or keep");
            links = word == "keep" ? snapshot::Links::keep : snapshot::Links::follow;
          },
          "symlinks that lead out of the source folder: follow (default) takes along what they "
          "lead to, keep the links")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("follow|keep");
}

void add_format(CLI::App& verb, Format& format, const char* what,
                std::vector<std::string>* outputs) {
  const auto typed = std::make_shared<bool>(false);
  const auto take = [&format, typed](const std::string& word) {
    const auto known = format_from(word);
    if (known) format = *known;
    *typed = *typed || known;
    return known.has_value();
  };
  verb.add_option_function<std::string>(
          outputs == nullptr ? "-o,--output" : "-o",
          [take](const std::string& word) {
            if (!take(word))
              throw CLI::ValidationError("-o", "'" + word + "' is not table, json, yaml or tsv");
          },
          what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("table|json|yaml|tsv");
  if (outputs != nullptr)
    verb.add_option_function<std::vector<std::string>>(
            "--output",
            [take, outputs](const std::vector<std::string>& words) {
              for (const std::string& word : words)
                if (!take(word)) outputs->push_back(word);
            },
            "NAME, or NAME=azureml://datastores/…, for ${{outputs.NAME}}; may be repeated; or a "
            "format, as for -o")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  // CLI11 calls an option's function after those of the options that were added before.
  verb.add_option_function<std::string>(
          kQueryOption,
          [&format, typed](const std::string& text) {
            if (const auto good = jmespath::Expression::parse(text); !good)
              throw CLI::ValidationError(kQueryOption, good.error().message);
            if (format == Format::table) format = *typed ? Format::records : Format::json;
          },
          "print only what this JMESPath expression selects; as JSON unless -o says otherwise")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("JMESPATH");
}

CLI::Validator whole_number(int least, int most) {
  const auto check = [least, most](const std::string& word) -> std::string {
    int value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, value);
    if (failure == std::errc{} && stop == end && value >= least && value <= most) return "";
    const bool bounded = most != std::numeric_limits<int>::max();
    return "'" + word + "' is not a whole number " +
           (bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                    : "of at least " + std::to_string(least));
  };
  return CLI::Validator(check, "");
}

CLI::Validator filled(const std::string& instead) {
  const auto check = [instead](const std::string& word) {
    return word.empty() ? "must not be empty; " + instead : std::string();
  };
  return CLI::Validator(check, "");
}

CLI::Validator job_name(const std::string& instead) {
  CLI::Validator check = filled(instead);
  check.name(kJobName);
  return check;
}

CLI::App* VerbTable::add(const std::string& name, const std::string& what) const {
  CLI::App* const verb = app.add_subcommand(name, what);
  return whole || name == first_word ? verb : nullptr;
}

CLI::App* VerbTable::add_below(CLI::App& group, const std::string& name,
                               const std::string& what) const {
  CLI::App* const verb = group.add_subcommand(name, what);
  return whole || name == second_word ? verb : nullptr;
}

void add_verbs(VerbTable table) {
  CLI::App& app = table.app;
  app.description(kDescription);
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  add_up_verbs(table);
  add_run_verb(table);
  add_job_verbs(table);
  add_environment_verbs(table);
  add_asset_verbs(table);
  add_datastore_verbs(table);
  add_top_verb(table);
  add_node_verbs(table);
  add_compute_verbs(table);
  add_size_verbs(table);
  add_user_verbs(table);
  add_project_verbs(table);
  add_secret_verbs(table);
  add_audit_verbs(table);
  add_quota_verbs(table);
  add_config_verbs(table);
  add_snapshot_verb(table);
  add_doctor_verb(table);
  add_completion_verb(table);
  add_init_verb(table);
}

}  // namespace lockstep::cli
