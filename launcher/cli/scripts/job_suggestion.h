#pragma once
// A first job file for a folder of scripts: what the scripts import and which options they have is
// read from their text, line by line. Nothing is run. Pure.

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The files of a folder, as far as they matter.
struct ScriptFolder {
  std::string name;                 // the folder's name
  std::string script;               // "train.py", "src/run.sh": a path in the folder
  std::string text;                 // the script's text
  std::vector<std::string> others;  // paths of the other files
};

struct ScriptOption {
  std::string option;  // "--learning-rate"; "data": a positional argument
  std::string value;   // the option's default as a YAML scalar; "": it has none, and needs one
  friend bool operator==(const ScriptOption&, const ScriptOption&) = default;
};

struct ScriptLook {
  bool uses_torch_distributed = false;
  bool uses_mpi = false;
  bool uses_gpu = false;
  std::vector<ScriptOption> options;  // the options of argparse
};

// The script that trains, among files of a folder and below it, by path; nullopt: there is none, or
// several may be. Files nearer to the folder itself are preferred.
std::optional<std::string> likely_script(const std::vector<std::string>& paths);
// The scripts that may be the one that trains, those nearest to the folder first.
std::vector<std::string> possible_scripts(const std::vector<std::string>& paths);

ScriptLook look_at(const std::string& text);
// The text of a job file that is valid as it stands.
std::string suggested_job(const ScriptFolder& folder);

}  // namespace lockstep::cli
