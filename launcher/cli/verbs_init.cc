// `lockstep init`: writes a first job file for the scripts of a folder.

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "launcher/cli/job_suggestion.h"
#include "launcher/cli/verbs.h"

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

// As a name of an experiment: letters, digits, "_", "-" and ".".
std::string name_of(const std::string& directory) {
  std::error_code failed;
  std::string name = std::filesystem::canonical(directory, failed).filename();
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '-' && c != '.') c = '_';
  }
  return name.empty() ? "Default" : name;
}

// `lockstep init dir/train.py` means the script train.py of the folder dir.
void take_file_as_script(InitOptions& options) {
  std::error_code failed;
  const std::filesystem::path given = options.directory;
  if (!options.script.empty() || !std::filesystem::is_regular_file(given, failed)) return;
  options.script = given.filename();
  options.directory = given.has_parent_path() ? given.parent_path().string() : ".";
}

Result<ScriptFolder> read_folder(const InitOptions& options) {
  ScriptFolder folder;
  std::error_code failed;
  if (!std::filesystem::is_directory(options.directory, failed))
    return make_error(ErrorCode::not_found,
                      fmt::format("init: {} is not a folder; name the script's folder, or the "
                                  "script alone, such as src/train.py",
                                  quoted_name(options.directory)));
  TRY_ASSIGN(folder.others, io::list_directory(options.directory));
  folder.script = options.script;
  if (folder.script.empty()) {
    if (folder.others.empty())
      return make_error(ErrorCode::not_found,
                        fmt::format("init: {} is empty; put the script there first",
                                    quoted_name(options.directory)));
    const auto likely = likely_script(folder.others);
    if (!likely)
      return make_error(ErrorCode::not_found,
                        fmt::format("init: which file of {} is the script? Name it: lockstep init "
                                    "{} --script train.py",
                                    quoted_name(options.directory), options.directory));
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
