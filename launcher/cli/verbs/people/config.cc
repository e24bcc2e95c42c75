// `lockstep config`: the settings of a user for all their commands.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

struct ConfigOptions {
  std::vector<std::string> words;
  Format format = Format::table;
};

int bad_setting(Context& context, std::string message) {
  return fail(context.terminal, make_error(ErrorCode::invalid_argument, std::move(message)),
              kExitUsage);
}

int save(Context& context, const Settings& settings) {
  const Status written = write_settings(context.home, settings);
  return written ? 0 : fail(context.terminal, written.error());
}

int set(Context& context, const ConfigOptions& options) {
  auto settings = read_settings(context.home);
  if (!settings) return fail(context.terminal, settings.error());
  for (const std::string& word : options.words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      return bad_setting(
          context, fmt::format("config set: '{}' is not KEY=VALUE, as in {}=gpu-cluster", word,
                               kDefaultCompute));
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (const Status good = check_setting(key, value); !good)
      return fail(context.terminal, good.error().within("config set"), kExitUsage);
    (*settings)[key] = value;
  }
  return save(context, *settings);
}

int unset(Context& context, const ConfigOptions& options) {
  auto settings = read_settings(context.home);
  if (!settings) return fail(context.terminal, settings.error());
  for (const std::string& key : options.words) {
    if (const Status good = check_setting_name(key); !good)
      return fail(context.terminal, good.error().within("config unset"), kExitUsage);
    settings->erase(key);
  }
  return save(context, *settings);
}

int get(Context& context, const ConfigOptions& options) {
  const auto settings = read_settings(context.home);
  if (!settings) return fail(context.terminal, settings.error());
  Json json = Json::object();
  std::string text;
  for (const auto& [key, value] : *settings) {
    const bool is_asked = options.words.empty() || options.words.front() == key;
    if (!is_asked) continue;
    json[key] = value;
    text += options.words.empty() ? fmt::format("{}={}\n", key, value) : value + "\n";
  }
  if (!options.words.empty() && json.empty())
    return fail(context.terminal,
                make_error(ErrorCode::not_found,
                           fmt::format("'{}' is not set; `lockstep config set {}=VALUE` sets it",
                                       options.words.front(), options.words.front())));
  return print(context, options.format, json, text);
}

}  // namespace

void add_config_verbs(VerbTable table) {
  CLI::App* const added = table.add("config", "your settings for all commands");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<ConfigOptions>();
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* what,
                       int (*work)(Context&, const ConfigOptions&)) {
    auto* verb = group.add_subcommand(name, what);
    verb->callback([table, options, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
    return verb;
  };
  auto* set_verb = add("set", "set KEY=VALUE", set);
  set_verb->add_option("KEY=VALUE", options->words, "one or more")->required();
  set_verb->footer(
      "\n  lockstep config set defaults.compute=gpu-cluster defaults.experiment=digits\n"
      "  defaults.compute      the target of jobs that name none; LOCKSTEP_COMPUTE overrides it\n"
      "  defaults.experiment   the experiment of jobs that name none, or Default\n"
      "  defaults.output       table, json, yaml or tsv: the format of verbs without -o");
  add("unset", "remove a setting", unset)
      ->add_option("KEY", options->words, "one or more")
      ->required();
  auto* get_verb = add("get", "print the value of one setting, or of all", get);
  get_verb->add_option("KEY", options->words, "the key")->expected(0, 1);
  add_format(*get_verb, options->format);
  add_format(*add("list", "print all settings", get), options->format);
}

}  // namespace lockstep::cli
