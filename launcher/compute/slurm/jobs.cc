#include "launcher/compute/slurm/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "common/grammar/slurm_time.h"
#include "common/io/programs/run_program.h"
#include "launcher/compute/agent_output.h"
#include "launcher/compute/machine_name.h"

namespace lockstep::compute::slurm {
namespace {

constexpr Duration kAnswerTimeout = seconds(60);
constexpr std::size_t kFields = 7;
constexpr const char* kFormat = "%i|%T|%r|%N|%l|%L|%k";

Attempt<io::ProgramOutput> run(const std::string& step, const std::vector<std::string>& words,
                               int input = -1) {
  const char* path = std::getenv("PATH");
  io::ProgramOptions options{.timeout = kAnswerTimeout};
  if (path != nullptr) options.path = path;
  options.input = input;
  options.dies_with_us = true;
  auto answer = io::run_program(words, options);
  if (!answer) {
    const bool is_slow = answer.error().code == ErrorCode::unavailable;
    return tl::unexpected(
        Failed{step, is_slow ? Failure::timed_out : Failure::unreachable, answer.error().message});
  }
  if (answer->exit_code != 0)
    return tl::unexpected(slurm_failure(
        step, answer->errors.empty() ? std::string_view(answer->text) : answer->errors));
  return *std::move(answer);
}

std::array<std::string, kFields> fields_of(const std::string& line) {
  std::array<std::string, kFields> fields;
  std::istringstream parts(line);
  for (std::size_t i = 0; i < kFields; ++i)
    if (!std::getline(parts, fields[i], i + 1 == kFields ? '\n' : '|')) break;
  return fields;
}

// Reads a job's state. A completing job holds its node for a moment, but no agent runs in it any
// more.
Job::State state_from(const std::string& word) {
  if (word == "RUNNING") return Job::State::running;
  for (const char* waits : {"PENDING", "CONFIGURING", "SUSPENDED", "STOPPED", "REQUEUED",
                            "REQUEUE_HOLD", "RESIZING", "SIGNALING", "STAGE_OUT"})
    if (word == waits) return Job::State::pending;
  return Job::State::ended;
}

Job job_from(const std::array<std::string, kFields>& fields) {
  Job job{fields[0],
          state_from(fields[1]),
          fields[1],
          fields[2],
          fields[3],
          parse_slurm_time(fields[4]),
          parse_slurm_time(fields[5])};
  if (job.state == Job::State::ended || job.reason == "None" || job.reason.empty())
    job.reason = job.word;
  return job;
}

long number_of(const std::string& id) { return std::strtol(id.c_str(), nullptr, 10); }

bool counts_more(const Job& job, const Job& than) {
  const bool lives = job.state != Job::State::ended, lived = than.state != Job::State::ended;
  return lives != lived ? lives : number_of(job.id) > number_of(than.id);
}

bool has_any_of(std::string_view text, std::initializer_list<std::string_view> signs) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return lower.find(sign) != std::string::npos; });
}

Attempt<io::ProgramOutput> run_sbatch(const std::string& step, std::vector<std::string> words,
                                      const std::string& script) {
  const auto input = io::memory_file(script);
  if (!input) return tl::unexpected(Failed{step, Failure::failed, input.error().message});
  return run(step, words, input->get());
}

}  // namespace

std::string tag_of(const Request& request, const std::string& machine) {
  return fmt::format("lockstep {} {} {}", request.launcher, request.target, machine);
}

Jobs jobs_from(const Request& request, const std::string& text) {
  Jobs jobs;
  const std::string lead = tag_of(request, "");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto fields = fields_of(line);
    if (!fields.back().starts_with(lead)) continue;
    const std::string machine = fields.back().substr(lead.size());
    if (!check_machine_name(machine)) continue;
    const Job job = job_from(fields);
    const auto known = jobs.find(machine);
    if (known == jobs.end() || counts_more(job, known->second)) jobs[machine] = job;
  }
  return jobs;
}

Attempt<Jobs> list_jobs(const Request& request, const std::string& step) {
  const auto answer =
      run(step, {"squeue", "--noheader", "--states=all", "--user=" + std::to_string(::getuid()),
                 std::string("--format=") + kFormat});
  if (!answer) return tl::unexpected(answer.error());
  return jobs_from(request, answer->text);
}

std::vector<std::string> sbatch_words(const Request& request, const Settings& settings,
                                      const std::string& machine, const std::string& output) {
  std::vector<std::string> words{
      "sbatch", "--parsable", "--no-requeue", "--nodes=1",
      fmt::format("--job-name=lockstep-{}-{}-{}", request.launcher, request.target, machine),
      "--comment=" + tag_of(request, machine), "--output=" + output, "--open-mode=truncate",
      "--chdir=/",
      // The job gets no other variables of the launcher's environment.
      "--export=HOME,PATH,USER,LANG"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  };
  add("partition", settings.partition);
  add("account", settings.account);
  add("qos", settings.qos);
  add("time", settings.time);
  add("constraint", settings.constraint);
  // A machine is a whole node, unless the options request a part.
  if (!shares_nodes(settings)) words.push_back("--exclusive");
  words.insert(words.end(), settings.options.begin(), settings.options.end());
  return words;
}

Attempt<std::string> submit(std::vector<std::string> words, const std::string& script) {
  const auto answer = run_sbatch("submit", std::move(words), script);
  if (!answer) return tl::unexpected(answer.error());
  // sbatch prints "ID" or "ID;CLUSTER".
  const std::string id = answer->text.substr(0, answer->text.find_first_of(";\n"));
  if (!id.empty() && number_of(id) > 0) return id;
  return tl::unexpected(
      Failed{"submit", Failure::failed, "sbatch printed no job id: " + last_line(answer->text)});
}

Attempt<void> would_take(std::vector<std::string> words, const std::string& script) {
  words.push_back("--test-only");
  const auto answer = run_sbatch("check", std::move(words), script);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Attempt<void> cancel(const std::string& id) {
  const auto answer = run("remove", {"scancel", "--quiet", id});
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Failed slurm_failure(const std::string& step, std::string_view errors) {
  const std::string line = last_line(errors);
  const auto is = [&](Failure code) { return Failed{step, code, line}; };
  if (has_any_of(errors, {"munge", "authentication", "protocol authentication"}))
    return is(Failure::unauthenticated);
  if (has_any_of(errors, {"unable to contact", "connection refused", "socket timed out",
                          "unable to establish", "zero bytes were transmitted",
                          "could not establish a configuration source"}))
    return is(Failure::unreachable);
  if (has_any_of(errors, {"no space left", "disk quota exceeded"})) return is(Failure::no_space);
  if (has_any_of(errors, {"access/permission denied", "not permitted"}))
    return is(Failure::no_permission);
  if (has_any_of(errors, {"invalid", "unrecognized option", "not available",
                          "requested node configuration", "violates", "unable to open file"}))
    return is(Failure::unsupported);
  return Failed{step, Failure::failed, line.empty() ? "Slurm failed and gave no reason" : line};
}

}  // namespace lockstep::compute::slurm
