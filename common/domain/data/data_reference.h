#pragma once
// The address of a data input that does not name a file of the submitter: an output of another job,
// registered data, or files of a datastore. The launcher resolves it when the job is submitted.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep {

// azureml://jobs/JOB/outputs/OUTPUT[/paths/PATH]
struct JobOutputReference {
  JobId job;
  std::string output;  // a named output, or "artifacts": the job's ./outputs and ./logs
  std::string path;    // the path below it, without "/" at its ends; "": all of it
  friend bool operator==(const JobOutputReference&, const JobOutputReference&) = default;
};

// azureml:NAME:VERSION, azureml:NAME@LABEL, azureml:NAME (its newest version)
struct AssetReference {
  std::string name;
  std::string version;  // the version; "": the reference has a label
  std::string label;    // "latest", or ""
  friend bool operator==(const AssetReference&, const AssetReference&) = default;
};

// azureml://datastores/DATASTORE/paths/PATH, also after azureml://subscriptions/…/workspaces/NAME/
struct DatastoreReference {
  std::string datastore;
  std::string path;  // the path below it, without "/" at its ends; "": all of it
  friend bool operator==(const DatastoreReference&, const DatastoreReference&) = default;
};

// "azureml:train:3", "azureml:train@latest"
std::string to_string(const AssetReference& reference);

using DataReference = std::variant<JobOutputReference, AssetReference, DatastoreReference>;

inline constexpr std::string_view kArtifacts = "artifacts";

// Reads the address of a data input. nullopt: the text is not a reference, because it does not
// begin with "azureml:". Returns unsupported for references that Azure ML has and Lockstep does
// not, and invalid_argument for a malformed one.
Result<std::optional<DataReference>> parse_data_reference(std::string_view text);

}  // namespace lockstep
