#include "launcher/cli/scripts/job_suggestion.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/domain/data/outputs.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostOptions = 30;

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::ptrdiff_t depth_of(const std::string& path) {
  return std::count(path.begin(), path.end(), '/');
}

template <typename Wanted>
std::vector<std::string> only_those(const std::vector<std::string>& paths, const Wanted& wanted) {
  std::vector<std::string> found;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(found), wanted);
  return found;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The length of the line without its comment, which begins at the first unquoted #.
std::size_t length_without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '#') {
      return i;
    } else if (c == '\'' || c == '"') {
      quote = c;
    }
  }
  return line.size();
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    out.append(line.substr(0, length_without_comment(line))).append("\n");
    begin = end + 1;
  }
  return out;
}

// Turns a Python literal into a YAML scalar; "" if it is not one.
std::string scalar_of(const std::string& literal) {
  static const RE2 number(R"(-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)");
  static const RE2 text(R"RE('([^'\\]*)'|"([^"\\]*)")RE");
  if (RE2::FullMatch(literal, number)) return literal;
  std::string single, twice;
  if (!RE2::FullMatch(literal, text, &single, &twice)) return "";
  return nlohmann::json(single.empty() ? twice : single)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The text up to the closing parenthesis; `rest` begins after the opening one.
std::string_view arguments_in(std::string_view rest) {
  int depth = 1;
  char quote = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return rest.substr(0, i);
    }
  }
  return rest;
}

std::vector<ScriptOption> options_in(const std::string& text) {
  static const RE2 call(R"(add_argument\()");
  static const RE2 name(R"RE(["'](--[A-Za-z][\w-]*)["'])RE");
  // A positional argument, which is required.
  static const RE2 position(R"RE(\A\s*["']([A-Za-z]\w*)["'])RE");
  static const RE2 value(R"RE(\bdefault\s*=\s*("[^"]*"|'[^']*'|[^,\s)]+))RE");
  static const RE2 is_required(R"(\brequired\s*=\s*True)");
  static const RE2 is_flag(R"(\baction\s*=|\bnargs\s*=)");
  std::vector<ScriptOption> options;
  re2::StringPiece rest(text);
  while (options.size() < kMostOptions && RE2::FindAndConsume(&rest, call)) {
    const std::string_view words = arguments_in({rest.data(), rest.size()});
    const re2::StringPiece piece(words.data(), words.size());
    ScriptOption option;
    std::string literal;
    const bool is_positional = RE2::PartialMatch(piece, position, &option.option);
    if (!is_positional && !RE2::PartialMatch(piece, name, &option.option)) continue;
    if (RE2::PartialMatch(piece, is_flag)) continue;
    if (RE2::PartialMatch(piece, value, &literal)) option.value = scalar_of(literal);
    if (is_positional || !option.value.empty() || RE2::PartialMatch(piece, is_required))
      options.push_back(std::move(option));
  }
  return options;
}

bool is_positional(const std::string& option) { return !option.starts_with("--"); }

std::string input_name(const std::string& option) {
  std::string name = option.substr(is_positional(option) ? 0 : 2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string command_text(const ScriptFolder& folder, const ScriptLook& look) {
  const bool is_python = ends_with(folder.script, ".py");
  std::string text =
      fmt::format("command: >-\n  {} {}\n", is_python ? "python3" : "bash", folder.script);
  if (look.options.empty()) return text;
  std::string inputs = "inputs:      # change them for one run with --set inputs.NAME=VALUE\n";
  for (const ScriptOption& option : look.options) {
    const std::string name = input_name(option.option);
    const std::string before = is_positional(option.option) ? "" : option.option + " ";
    text += fmt::format("  {}\"${{{{inputs.{}}}}}\"\n", before, name);
    inputs += option.value.empty()
                  ? fmt::format("  {}: CHANGE-ME      # the script requires it\n", name)
                  : fmt::format("  {}: {}\n", name, option.value);
  }
  return text + inputs;
}

// The environment of a suggestion. A file beside the script takes precedence over one in the
// folder.
std::string environment_text(const ScriptFolder& folder) {
  const auto slash = folder.script.rfind('/');
  std::vector<std::string> places{""};
  if (slash != std::string::npos) places.insert(places.begin(), folder.script.substr(0, slash + 1));
  for (const std::string& place : places) {
    for (const char* name : {"conda.yml", "conda.yaml", "environment.yml", "environment.yaml"})
      if (has(folder.others, place + name))
        return fmt::format("environment:\n  conda_file: {}\n", place + name);
    if (has(folder.others, place + "requirements.txt"))
      return fmt::format("environment:\n  requirements: {}requirements.txt\n", place);
  }
  return "# The packages that are installed on the nodes are used. To have others:\n"
         "# environment:\n"
         "#   requirements: [numpy==1.26.4]      # or the name of a file; or conda_file, or "
         "image\n";
}

std::string ranks_text(const ScriptLook& look) {
  if (look.uses_torch_distributed)
    return "# One copy of the command for each rank, with RANK, WORLD_SIZE, MASTER_ADDR and so "
           "on.\n"
           "distribution:\n"
           "  type: pytorch\n"
           "  process_count_per_instance: 1      # ranks on each node: one for each GPU\n";
  if (look.uses_mpi)
    return "# One copy of the command for each rank, as mpirun starts them; do not write mpirun.\n"
           "distribution:\n"
           "  type: mpi\n"
           "  process_count_per_instance: 1      # ranks on each node\n";
  return "# To run several ranks of the command:\n"
         "# distribution:\n"
         "#   type: pytorch                      # or mpi\n"
         "#   process_count_per_instance: 2      # ranks on each node\n";
}

std::string resources_text(const ScriptLook& look) {
  const std::string gpus = look.uses_gpu ? "lockstep:\n"
                                           "  resources:\n"
                                           "    gpus: 1            # on each node\n"
                                         : "# lockstep:\n"
                                           "#   resources:         # on each node\n"
                                           "#     gpus: 1\n";
  return "resources:\n  instance_count: 1    # nodes\n" + gpus;
}

}  // namespace

std::vector<std::string> possible_scripts(const std::vector<std::string>& paths) {
  std::vector<std::string> scripts;
  for (const std::string& path : paths) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool is_script = ends_with(name, ".py") || ends_with(name, ".sh");
    if (is_script && name != "setup.py" && name != "__init__.py") scripts.push_back(path);
  }
  std::stable_sort(scripts.begin(), scripts.end(),
                   [](const auto& a, const auto& b) { return depth_of(a) < depth_of(b); });
  return scripts;
}

std::optional<std::string> likely_script(const std::vector<std::string>& paths) {
  constexpr std::array<const char*, 6> kUsual{"train.py", "main.py", "run.py",
                                              "train.sh", "main.sh", "run.sh"};
  const std::vector<std::string> scripts = possible_scripts(paths);
  for (std::size_t begin = 0, end = 0; begin < scripts.size(); begin = end) {
    while (end < scripts.size() && depth_of(scripts[end]) == depth_of(scripts[begin])) ++end;
    const std::vector<std::string> level(scripts.begin() + static_cast<std::ptrdiff_t>(begin),
                                         scripts.begin() + static_cast<std::ptrdiff_t>(end));
    for (const char* usual : kUsual) {
      const auto named = only_those(level, [&](const std::string& path) {
        return path.substr(path.rfind('/') + 1) == usual;
      });
      if (named.size() == 1) return named.front();
      if (!named.empty()) return std::nullopt;
    }
    for (const char* ending : {".py", ".sh"}) {
      const auto fitting =
          only_those(level, [&](const std::string& path) { return ends_with(path, ending); });
      if (fitting.size() == 1) return fitting.front();
      if (!fitting.empty()) return std::nullopt;
    }
  }
  return std::nullopt;
}

ScriptLook look_at(const std::string& text) {
  const std::string code = without_comments(text);
  const auto uses = [&](const char* pattern) { return RE2::PartialMatch(code, pattern); };
  ScriptLook look;
  look.uses_torch_distributed =
      uses(R"(torch\.distributed|from torch import distributed|DistributedDataParallel|)"
           R"(\bimport (deepspeed|accelerate|lightning)|from (accelerate|lightning) import)");
  look.uses_mpi = uses(R"(\bmpi4py\b|\bimport horovod|MPI_Init)");
  look.uses_gpu = uses(R"(\bcuda\b|\bnccl\b|\bcupy\b|\.to\(["']gpu)");
  look.options = options_in(code);
  std::erase_if(look.options, [](const ScriptOption& option) {
    return !valid_output_name(input_name(option.option));
  });
  // torchrun's argument, which ranks have as LOCAL_RANK
  std::erase_if(look.options, [](const ScriptOption& option) {
    return input_name(option.option) == "local_rank";
  });
  return look;
}

std::string suggested_job(const ScriptFolder& folder) {
  const ScriptLook look = look_at(folder.text);
  std::string text = fmt::format(
      "# A job that runs {0}, suggested by `lockstep init`. Check it and submit it:\n"
      "#   lockstep job validate -f job.yml\n"
      "#   lockstep job create -f job.yml --stream\n"
      "$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\n"
      "type: command\n"
      "experiment_name: {1}\n"
      "code: .              # uploaded without what .amlignore and .gitignore name\n",
      folder.script,
      nlohmann::json(folder.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  text += command_text(folder, look) + environment_text(folder) + ranks_text(look) +
          resources_text(look);
  return text +
         "# What the script writes to ./outputs is kept; to get it: lockstep job download NAME\n";
}

}  // namespace lockstep::cli
