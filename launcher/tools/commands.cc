#include "launcher/tools/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/printable.h"
#include "common/io/process.h"
#include "launcher/daemon/options.h"
#include "launcher/tools/backup.h"
#include "launcher/tools/backup_secrets.h"
#include "launcher/tools/fsck.h"

namespace lockstep::launcher {

namespace {

using Json = nlohmann::ordered_json;

struct ToolOptions {
  std::string home, place, key;
  bool repair = false;
  std::optional<std::uint64_t> truncate_at;
  std::string format = "text";
};

// The home of the launcher that `lockstep` starts.
std::string default_home() {
  if (const char* chosen = std::getenv("LOCKSTEP_HOME"); chosen != nullptr && *chosen != '\0')
    return std::string(chosen) + "/launcher";
  const auto user = io::current_user();
  const char* home = std::getenv("HOME");
  return (home != nullptr && *home != '\0' ? home
          : user                           ? user->home
                                           : "") +
         std::string("/.lockstep/launcher");
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  auto whole = std::filesystem::absolute(path, failure).lexically_normal().string();
  if (failure) whole = path;
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int fail(const char* command, const Error& error) {
  std::fprintf(stderr, "lockstepd %s: %s\n", command, printable(error.message).c_str());
  switch (error.code) {
    case ErrorCode::conflict: return static_cast<int>(ExitCode::already_running);
    case ErrorCode::invalid_argument:
    case ErrorCode::already_exists:
    case ErrorCode::not_found: return static_cast<int>(ExitCode::usage);
    case ErrorCode::permission_denied:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
    case ErrorCode::unsupported:
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal:
    case ErrorCode::unsatisfiable: break;
  }
  return static_cast<int>(ExitCode::store_refused);
}

void print_json(const Json& json) {
  const auto replace = Json::error_handler_t::replace;
  std::printf("%s\n", escaped_json(json.dump(2, ' ', false, replace)).c_str());
}

void print_lines(std::FILE* to, const char* what, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    std::fprintf(to, "%s: %s\n", what, in_one_line(line).c_str());
}

int run_fsck(const ToolOptions& options) {
  const auto report = fsck({absolute(options.home), options.repair, options.truncate_at});
  if (!report) return fail("fsck", report.error());
  if (options.format == "json") {
    print_json({{"home", absolute(options.home)},
                {"clean", report->problems.empty()},
                {"facts", report->facts},
                {"jobs", report->jobs},
                {"blobs", report->blobs},
                {"problems", report->problems},
                {"notes", report->notes},
                {"repaired", report->repaired}});
  } else {
    print_lines(stdout, "problem", report->problems);
    print_lines(stdout, "note", report->notes);
    print_lines(stdout, "repaired", report->repaired);
    std::printf(
        "%s: %s; looked at %llu facts, %llu jobs, %llu blobs\n",
        in_one_line(absolute(options.home)).c_str(),
        report->problems.empty() ? "clean" : counted(report->problems.size(), "problem").c_str(),
        static_cast<unsigned long long>(report->facts),
        static_cast<unsigned long long>(report->jobs),
        static_cast<unsigned long long>(report->blobs));
  }
  return report->problems.empty() ? 0 : 1;
}

int say(const ToolOptions& options, const BackupReport& report, const std::string& text) {
  if (options.format == "json")
    print_json({{"from", report.from},
                {"to", report.to},
                {"at", to_string(report.taken)},
                {"facts", report.facts},
                {"jobs", report.jobs},
                {"blobs", report.blobs},
                {"logs", report.logs},
                {"secrets", report.secrets},
                {"left_out", report.left_out},
                {"problems", report.problems}});
  else
    std::printf("%s\n", printable(text).c_str());
  print_lines(stderr, "left out", report.left_out);
  print_lines(stderr, "problem", report.problems);
  return report.problems.empty() ? 0 : 1;
}

int run_backup(const ToolOptions& options) {
  const auto report = backup(absolute(options.home), absolute(options.place),
                             options.key.empty() ? "" : absolute(options.key));
  if (!report) return fail("backup", report.error());
  return say(
      options, *report,
      fmt::format(
          "{}: {} jobs, {} blobs, {} logs{}, as of {}. The backup holds the launcher's keys: "
          "whoever can read the backup can pose as the launcher",
          report->to, report->jobs, report->blobs, report->logs,
          options.key.empty() ? "" : fmt::format(", {}", counted(report->secrets, "secret")),
          to_string(report->taken)));
}

int run_backup_key(const ToolOptions& options) {
  const auto key = make_backup_key(absolute(options.place));
  if (!key) return fail("backup-key", key.error());
  std::printf("%s\n",
              printable(fmt::format("{0} opens the secrets of backups: keep it off the launcher's "
                                    "machine, and safe. {0}.pub is for `lockstepd backup "
                                    "--with-secrets`",
                                    options.place))
                  .c_str());
  return 0;
}

int run_restore(const ToolOptions& options) {
  const auto report = restore(absolute(options.place), absolute(options.home),
                              options.key.empty() ? "" : absolute(options.key));
  if (!report) return fail("restore", report.error());
  return say(options, *report,
             fmt::format(
                 "{}: {}, {} blobs, {} logs{}. Start it with: lockstepd --home {} (and "
                 "its other flags); it must be the only launcher with these keys",
                 report->to, counted(report->jobs, "job"), report->blobs, report->logs,
                 options.key.empty() ? "" : fmt::format(", {}", counted(report->secrets, "secret")),
                 report->to));
}

void add_format(CLI::App& command, ToolOptions& options) {
  command.add_option("-o,--output", options.format, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
}

CLI::App& add_fsck(CLI::App& app, ToolOptions& options) {
  auto& command =
      *app.add_subcommand("fsck", "check whether the stores of a stopped launcher are intact");
  command.add_option("--home", options.home, "home directory of the launcher")
      ->capture_default_str();
  command.add_flag("--repair", options.repair,
                   "move damaged blobs aside; remove blobs, uploads and logs that no job needs");
  command.add_option(
      "--truncate-journal-at", options.truncate_at,
      "remove this journal row and all later rows; a copy of the whole journal is kept");
  add_format(command, options);
  return command;
}

CLI::App& add_backup(CLI::App& app, ToolOptions& options) {
  auto& command = *app.add_subcommand(
      "backup", "copy a launcher's home as it is now; the launcher may run meanwhile");
  command.add_option("DEST", options.place, "directory to create")->required();
  command.add_option("--with-secrets", options.key,
                     "also the users' secrets, encrypted to the key in this file (FILE.pub of "
                     "lockstepd backup-key); without it they are left out");
  command.add_option("--home", options.home, "home directory of the launcher")
      ->capture_default_str();
  add_format(command, options);
  return command;
}

CLI::App& add_backup_key(CLI::App& app, ToolOptions& options) {
  auto& command = *app.add_subcommand(
      "backup-key", "make a key to which backups encrypt the users' secrets: FILE and FILE.pub");
  command.add_option("FILE", options.place, "the private key; FILE.pub is the public one")
      ->required();
  return command;
}

CLI::App& add_restore(CLI::App& app, ToolOptions& options) {
  auto& command = *app.add_subcommand("restore", "create a launcher's home from a backup");
  command.add_option("SRC", options.place, "the backup")->required();
  command.add_option("--with-secrets", options.key,
                     "also the users' secrets in it, opened with the private key in this file");
  command.add_option("--home", options.home, "directory to create; must be empty if it exists")
      ->required();
  add_format(command, options);
  return command;
}

}  // namespace

std::optional<int> run_tool(int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first != "fsck" && first != "backup" && first != "backup-key" && first != "restore")
    return std::nullopt;
  ToolOptions options;
  options.home = default_home();
  CLI::App app("lockstepd: checks, backs up and restores the stores of a launcher.", "lockstepd");
  const auto& fsck_command = add_fsck(app, options);
  const auto& backup_command = add_backup(app, options);
  const auto& key_command = add_backup_key(app, options);
  add_restore(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    // Reports unknown options before missing ones: a missing one may only be misspelt.
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const auto unknown = app.remaining(true);
    const std::string why =
        is_missing && !unknown.empty() ? CLI::ExtrasError(unknown).what() : error.what();
    std::fprintf(stderr, "lockstepd %s: %s\n(lockstepd %s --help lists all flags)\n", first.c_str(),
                 printable(why).c_str(), first.c_str());
    return static_cast<int>(ExitCode::usage);
  }
  if (fsck_command.parsed()) return run_fsck(options);
  if (key_command.parsed()) return run_backup_key(options);
  return backup_command.parsed() ? run_backup(options) : run_restore(options);
}

}  // namespace lockstep::launcher
