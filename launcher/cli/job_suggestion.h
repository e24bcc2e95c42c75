#pragma once
// A first job file for a folder of scripts: what the scripts import and which options they have is
// read from their text, line by line. Nothing is run. Pure.

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The files of a folder, as far as they matter.
struct ScriptFolder {
  std::string name;                 // of the folder
  std::string script;               // "train.py" or "run.sh"
  std::string text;                 // of the script
  std::vector<std::string> others;  // names of the other files
};

struct ScriptOption {
  std::string option;  // "--learning-rate"; "data": a positional argument
  std::string value;   // its default as a YAML scalar; "": it has none, and needs one
  friend bool operator==(const ScriptOption&, const ScriptOption&) = default;
};

struct ScriptLook {
  bool uses_torch_distributed = false;
  bool uses_mpi = false;
  bool uses_gpu = false;
  std::vector<ScriptOption> options;  // of argparse
};

// Of the names of a folder's files, the script that trains; nullopt: there is none, or several.
std::optional<std::string> likely_script(const std::vector<std::string>& names);

ScriptLook look_at(const std::string& text);
// The text of a job file that is valid as it stands.
std::string suggested_job(const ScriptFolder& folder);

}  // namespace lockstep::cli
