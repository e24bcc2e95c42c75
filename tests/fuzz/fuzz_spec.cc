// Any bytes as a job file, alone and with an override: parsed or refused with a place, never a
// crash.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launcher/spec/job_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto job = lockstep::spec::parse_job("job.yml", text);
  if (job && !lockstep::validate(job->spec)) std::abort();
  if (!job && job.error().message.rfind("job.yml:", 0) != 0) std::abort();
  const std::string assignment(text.substr(0, text.find('\n')));
  const auto overridden = lockstep::spec::parse_job("job.yml", "command: x\n", {assignment});
  if (!overridden && overridden.error().message.rfind("--set ", 0) != 0 &&
      overridden.error().message.rfind("job.yml:", 0) != 0)
    std::abort();
  return 0;
}
