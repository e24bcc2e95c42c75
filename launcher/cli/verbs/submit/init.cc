// `lockstep init`: writes a first job file for the scripts of a folder.

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "launcher/cli/scripts/job_suggestion.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Bytes kMostScript = mebibytes(1);
constexpr const char* kJobFile = "job.yml";
constexpr const char* kInitExamples = R"(
  lockstep init                        for this folder
  lockstep init examples --script fit.py
  lockstep init examples/fit.py        the same
It looks at the script's imports and options and at requirements.txt or conda.yml, runs nothing, and
never overwrites a file.)";

struct InitOptions {
  std::string directory = ".";
  std::string script;
};

// A name for an experiment: letters, digits, "_", "-" and ".".
std::string name_of(const std::string& directory) {
  std::error_code failed;
  std::string name = std::filesystem::canonical(directory, failed).filename();
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '-' && c != '.') c = '_';
  }
  return name.empty() ? "Default" : name;
}

// Takes `lockstep init dir/train.py` as the script train.py in the folder dir.
void take_file_as_script(InitOptions& options) {
  std::error_code failed;
  const std::filesystem::path given = options.directory;
  if (!options.script.empty() || !std::filesystem::is_regular_file(given, failed)) return;
  options.script = given.filename();
  options.directory = given.has_parent_path() ? given.parent_path().string() : ".";
}

// Paths of the files in the folder and below it, without hidden files, links, and folders that hold
// no sources of the user. What cannot be read is skipped.
std::vector<std::string> files_below(const std::string& directory) {
  constexpr int kDeepest = 3;
  constexpr std::size_t kMost = 10'000;
  const auto is_foreign = [](const std::string& name) {
    return name.starts_with(".") || name == "__pycache__" || name == "node_modules" ||
           name == "site-packages" || name == "venv" || name == "env";
  };
  std::vector<std::string> found;
  std::error_code failed;
  using Walk = std::filesystem::recursive_directory_iterator;
  const auto quietly = std::filesystem::directory_options::skip_permission_denied;
  for (Walk at(directory, quietly, failed), end; !failed && at != end && found.size() < kMost;
       at.increment(failed)) {
    std::error_code gone;
    const bool is_folder = at->is_directory(gone);
    if (is_folder && (at.depth() == kDeepest || is_foreign(at->path().filename())))
      at.disable_recursion_pending();
    if (at->is_regular_file(gone))
      found.push_back(at->path().lexically_relative(directory).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Error which_script(const InitOptions& options, const ScriptFolder& folder) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<std::string> scripts = possible_scripts(folder.others);
  if (scripts.empty())
    return make_error(
        ErrorCode::not_found,
        fmt::format("init: there is no script (*.py, *.sh) in {}; if it has another "
                    "name, write: lockstep init {} --script NAME",
                    quoted_name(options.directory), shell_words({options.directory})));
  std::string named;
  for (std::size_t i = 0; i < std::min(scripts.size(), kMostNamed); ++i)
    named += (i == 0 ? "" : ", ") + quoted_name(scripts[i]);
  if (scripts.size() > kMostNamed)
    named += fmt::format(" and {} more", scripts.size() - kMostNamed);
  return make_error(ErrorCode::not_found,
                    fmt::format("init: which file of {} is the script ({})? Name it: {}",
                                quoted_name(options.directory), named,
                                shell_words({"lockstep", "init", options.directory, "--script",
                                             scripts.front()})));
}

Result<ScriptFolder> read_folder(const InitOptions& options) {
  ScriptFolder folder;
  std::error_code failed;
  if (!std::filesystem::is_directory(options.directory, failed))
    return make_error(ErrorCode::not_found,
                      fmt::format("init: {} is not a folder; name the script's folder, or the "
                                  "script alone, such as src/train.py",
                                  quoted_name(options.directory)));
  folder.others = files_below(options.directory);
  folder.script = options.script;
  if (folder.script.empty()) {
    if (folder.others.empty())
      return make_error(ErrorCode::not_found,
                        fmt::format("init: {} is empty; put the script there first",
                                    quoted_name(options.directory)));
    const auto likely = likely_script(folder.others);
    if (!likely) return which_script(options, folder);
    folder.script = *likely;
  }
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (!std::all_of(folder.script.begin(), folder.script.end(), plain))
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("init: the script {} needs a name of letters, digits, '_', '-', "
                                  "'.' and '/'",
                                  quoted_name(folder.script)));
  TRY_ASSIGN(folder.text,
             io::read_regular_file(options.directory + "/" + folder.script, kMostScript));
  folder.name = name_of(options.directory);
  return folder;
}

Status write_new(const std::string& path, const std::string& text) {
  const auto file = io::open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  if (!file && io::exists(path))
    return make_error(ErrorCode::conflict,
                      fmt::format("init: {} exists already; nothing was written", path));
  if (!file) return file.error();
  return io::write_all(file->get(), text);
}

int init(Context& context, InitOptions options) {
  take_file_as_script(options);
  const auto folder = read_folder(options);
  if (!folder) return fail(context.terminal, folder.error(), kExitUsage);
  const std::string path = options.directory + "/" + kJobFile;
  if (const Status written = write_new(path, suggested_job(*folder)); !written)
    return fail(context.terminal, written.error());
  context.terminal.print_line(fmt::format(
      "wrote {} for {}; look at it, and submit it with: lockstep job create -f {} --stream", path,
      folder->script, shell_words({path})));
  return 0;
}

}  // namespace

void add_init_verb(VerbTable table) {
  CLI::App* const verb = table.add("init", "write a first job file for the scripts of a folder");
  if (verb == nullptr) return;
  const auto options = std::make_shared<InitOptions>();
  verb->footer(kInitExamples);
  verb->add_option("DIR", options->directory,
                   "the folder, or the script in it (default: this folder)")
      ->check(filled("leave it out for this folder"));
  verb->add_option("--script", options->script, "the script that the job runs, in this folder")
      ->check(filled("leave it out to have it found"));
  verb->callback([table, options] {
    table.action = [options](Context& context) { return init(context, *options); };
  });
}

}  // namespace lockstep::cli
