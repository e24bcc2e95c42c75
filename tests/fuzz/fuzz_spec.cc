// Any bytes as a job file, alone and with an override, as an environment file, a conda file, a lock
// file, a match spec, a requirements file, an environment's name, an image's and options of docker:
// parsed or refused with a place, never a crash.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/domain/environment/docker_args.h"
#include "common/grammar/image_name.h"
#include "launcher/files/environment/environment_reference.h"
#include "launcher/files/environment/match_spec.h"
#include "launcher/files/job_file.h"

namespace {

using lockstep::spec::ReadText;

void read_as_environment(const std::string& text) {
  const ReadText alone = [&](const std::string& path) -> lockstep::Result<std::string> {
    if (path == "env.yml" || path == "r.txt") return text;
    return lockstep::make_error(lockstep::ErrorCode::not_found, "there is no " + path);
  };
  lockstep::spec::Notes notes;
  const auto environment = lockstep::spec::load_environment("env.yml", alone, notes);
  if (environment && !lockstep::validate(environment->environment.spec)) std::abort();
  if (!environment && environment.error().message.rfind("env.yml:", 0) != 0 &&
      environment.error().message.rfind("r.txt:", 0) != 0)
    std::abort();
  lockstep::VenvEnvironment venv;
  const auto read = lockstep::spec::load_requirements("r.txt", alone, venv);
  if (!read && read.error().message.rfind("r.txt:", 0) != 0) std::abort();
  const auto name = lockstep::spec::parse_environment_reference(text);
  if (name && name->empty()) std::abort();
}

// Alone, behind what makes it a lock file, and as a dependency.
void read_as_conda(const std::string& text) {
  const std::string lock = "version: 1\nmetadata: {}\npackage:\n";
  for (const std::string& content : {text, "@EXPLICIT\n" + text, lock + text}) {
    const ReadText alone = [&](const std::string& path) -> lockstep::Result<std::string> {
      if (path == "conda.yml") return content;
      return lockstep::make_error(lockstep::ErrorCode::not_found, "there is no " + path);
    };
    lockstep::spec::Notes notes;
    const auto conda = lockstep::spec::load_conda_environment("conda.yml", alone, notes);
    if (conda && !lockstep::validate(conda->environment.spec)) std::abort();
    if (!conda && conda.error().message.rfind("conda.yml:", 0) != 0) std::abort();
  }
  (void)lockstep::spec::check_match_spec(text);
}

void read_as_docker(const std::string& text) {
  (void)lockstep::check_image_name(text);
  if (const auto words = lockstep::split_docker_args(text))
    (void)lockstep::check_docker_args(*words, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as_docker(std::string(text));
  const auto job = lockstep::spec::parse_job("job.yml", text);
  if (job && !lockstep::validate(job->spec)) std::abort();
  if (!job && job.error().message.rfind("job.yml:", 0) != 0) std::abort();
  const std::string assignment(text.substr(0, text.find('\n')));
  const auto overridden = lockstep::spec::parse_job("job.yml", "command: x\n", {assignment});
  if (!overridden && overridden.error().message.rfind("--set ", 0) != 0 &&
      overridden.error().message.rfind("job.yml:", 0) != 0)
    std::abort();
  read_as_environment(std::string(text));
  read_as_conda(std::string(text));
  return 0;
}
