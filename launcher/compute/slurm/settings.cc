#include "launcher/compute/slurm/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "launcher/compute/settings_object.h"

namespace lockstep::compute::slurm {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxPath = 512;
constexpr std::size_t kMaxValue = 256;
constexpr std::size_t kMaxOptions = 64;
constexpr std::size_t kMaxOption = 1'024;

constexpr std::array<std::string_view, 5> kSettings{"partition", "account", "qos", "time",
                                                    "constraint"};
constexpr std::array<std::string_view, 25> kOurs{
    "cluster",     "clusters", "array",    "chdir", "comment",  "error",      "export",
    "export-file", "gid",      "help",     "input", "job-name", "no-requeue", "nodes",
    "open-mode",   "output",   "parsable", "quiet", "requeue",  "test-only",  "uid",
    "usage",       "version",  "wait",     "wrap"};

std::string_view name_of(std::string_view option) {
  const auto equals = option.find('=');
  return option.substr(2, equals == option.npos ? equals : equals - 2);
}

// Finds an option; sbatch accepts abbreviated names.
template <std::size_t N>
bool may_mean(std::string_view name, const std::array<std::string_view, N>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](std::string_view one) { return one.starts_with(name); });
}

Status check_option(const SettingsObject& object, const std::string& word) {
  const bool is_clean =
      std::none_of(word.begin(), word.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (word.size() > kMaxOption || !is_clean)
    return object.bad("options", "has a word that is too long, or has a control character");
  const std::string_view name = word.starts_with("--") ? name_of(word) : std::string_view();
  if (name.size() < 2 || !is_made_of(name, "-") || name[0] == '-')
    return object.bad("options",
                      fmt::format("has '{}'; write each as --name or --name=value", word));
  if (may_mean(name, kSettings))
    return object.bad("options", fmt::format("has --{}; partition, account, qos, time and "
                                             "constraint are settings of their own",
                                             name));
  if (may_mean(name, kOurs))
    return object.bad("options", fmt::format("has --{}, which Lockstep sets itself", name));
  return {};
}

// Checks a path, which becomes a part of a shell script, and of a file name in which Slurm replaces
// % and backslash.
Status check_directory(const SettingsObject& object, const std::string& path) {
  if (path.empty()) return object.bad("directory", "is missing");
  const bool good = path.size() <= kMaxPath && path.size() > 1 && path[0] == '/' &&
                    path.back() != '/' && is_made_of(path, "/.-+") &&
                    path.find("/../") == std::string::npos && !path.ends_with("/..") &&
                    path.find("//") == std::string::npos;
  if (good) return {};
  return object.bad(
      "directory",
      fmt::format("is '{}', not an absolute path made only of letters, digits and / . "
                  "_ - +, without '..', '//' and a '/' at its end, of at most {} bytes",
                  path, kMaxPath));
}

Result<SettingsObject> open_settings(const json& all) {
  return SettingsObject::open(
      all, "settings",
      {"partition", "account", "qos", "time", "constraint", "options", "directory"});
}

}  // namespace

Result<Settings> place_from(const std::string& settings_json) {
  const json all = json::parse(settings_json, nullptr, false);
  TRY_ASSIGN(const auto object, open_settings(all));
  Settings settings;
  TRY_ASSIGN(settings.directory, object.text("directory"));
  TRY(check_directory(object, settings.directory));
  return settings;
}

Result<Settings> settings_from(const std::string& settings_json) {
  const json all = json::parse(settings_json, nullptr, false);
  TRY_ASSIGN(const auto object, open_settings(all));
  TRY_ASSIGN(Settings settings, place_from(settings_json));
  const auto read = [&](const char* key, std::string_view others, std::string& into) -> Status {
    TRY_ASSIGN(into, object.text(key));
    if (into.size() <= kMaxValue && is_made_of(into, others)) return {};
    return object.bad(key,
                      fmt::format("is '{}'; write at most {} letters, digits and characters of _{}",
                                  into.substr(0, kMaxValue), kMaxValue, others));
  };
  TRY(read("partition", ".,-", settings.partition));
  TRY(read("account", ".@-", settings.account));
  TRY(read("qos", ".-", settings.qos));
  TRY(read("time", ":-", settings.time));
  TRY(read("constraint", ".,:&|*()[]-", settings.constraint));
  TRY_ASSIGN(settings.options, object.texts("options"));
  if (settings.options.size() > kMaxOptions)
    return object.bad("options", fmt::format("has more than {} words", kMaxOptions));
  for (const std::string& word : settings.options) TRY(check_option(object, word));
  return settings;
}

bool shares_nodes(const Settings& settings) {
  constexpr std::array<std::string_view, 6> kShares{
      "cpus-per-task", "exclusive", "mincpus", "ntasks", "ntasks-per-node", "oversubscribe"};
  return std::any_of(settings.options.begin(), settings.options.end(),
                     [&](const std::string& word) { return may_mean(name_of(word), kShares); });
}

}  // namespace lockstep::compute::slurm
