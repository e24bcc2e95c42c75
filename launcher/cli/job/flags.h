#pragma once
// The flags that `run`, `job create` and `job validate` share: the job's name, its target, its
// inputs and outputs, its end, and which links are followed. For a job file they are keys of it;
// for `run` they are parts of the spec.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job/spec.h"
#include "common/snapshot/capture/capture.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/job_file.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/named_text.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct JobFlags {
  std::string compute = {};               // "": the file's, or the default one
  std::string display_name = {};          // "": none, or the file's
  std::string experiment = {};            // "": none, or the file's
  std::vector<std::string> tags = {};     // KEY=VALUE
  std::vector<std::string> inputs = {};   // NAME=VALUE; see read_port_flags
  std::vector<std::string> outputs = {};  // NAME, or NAME=PATH
  std::string grace = {};                 // "": the file's, or the launcher's
  std::string signal = {};                // USR1@60; "": the file's, or none
  std::optional<snapshot::Links> links = {};
  bool wait_anyway = false;  // submits even if the job waits in vain
};

// Adds all flags except --output, whose place add_format() knows (base/verb_table.h).
void add_job_flags(CLI::App& verb, JobFlags& flags);

// Puts tags, display name and experiment into the job, and its experiment into its steps.
Status apply_texts(const JobFlags& flags, JobSpec& spec);

// Puts --grace and --signal into the policy.
Status read_stop(const JobFlags& flags, StopPolicy& stop);

// Texts, --grace, --signal and --links of a job file, also for its steps.
Status apply_to_file(const JobFlags& flags, spec::JobFile& file);
// The errors that apply_to_file would give for any file, for use when the file could not be read.
Status check_flags(const JobFlags& flags);

// Whether the file says where its job runs.
bool names_target(const spec::NamedText& file);

// A flag that is an override of a job file.
struct FlagOverride {
  std::string assignment;  // "inputs.lr=0.1"
  std::string flag;        // the flag as it was typed: "--input lr=0.1"
};

// The other flags as overrides of this job file. An input that is data in the file gets another
// path, and a value another value. A local path is relative to the working directory, like all
// paths that are typed. Wrong flags become faults.
std::vector<FlagOverride> overrides_of(const JobFlags& flags, const spec::NamedText& file,
                                       spec::Faults& faults);
// Replaces the place of an override at the beginning of an error ("--set inputs.lr=0.1: …") by the
// flag.
std::string as_typed(std::string error, const std::vector<FlagOverride>& overrides);

// The inputs and outputs of a job without a file. An input that looks like a path (./x, /x, .) or
// an address (azureml:, https://) is data, {type: …, path: …} is read as in a job file, and
// anything else is a value. Files of this machine are found, and added to `local`. Expressions in
// the words of the command are replaced as in a job file's; without such flags they stay.
Status read_port_flags(const JobFlags& flags, JobSpec& spec, std::vector<spec::LocalData>& local);

}  // namespace lockstep::cli
