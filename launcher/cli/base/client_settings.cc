#include "launcher/cli/base/client_settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/base/nearest.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/targets/compute.h"
#include "common/io/file_system.h"
#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {
namespace {

constexpr std::array<std::string_view, 3> kSettings{kDefaultCompute, kDefaultExperiment,
                                                    kDefaultOutput};
constexpr std::string_view kNoExperiment = "Default";  // the experiment of jobs that name none
constexpr std::size_t kMostExperiment = 255;           // bytes; the same limit as in a job

std::string path_of(const LocalHome& home) { return home.path() + "/config.json"; }

constexpr auto kReplaceBytes = Json::error_handler_t::replace;  // for bytes that are not UTF-8

Error wrong_setting(const std::string& why) { return make_error(ErrorCode::invalid_argument, why); }

Error broken(const LocalHome& home, const std::string& why) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("{}: {}; remove the file, and set what you need again with "
                                "`lockstep config set KEY=VALUE`",
                                path_of(home), why));
}

}  // namespace

Result<Settings> read_settings(const LocalHome& home) {
  const auto text = io::read_file(path_of(home), kibibytes(64));
  if (!text && text.error().code == ErrorCode::not_found) return Settings{};
  if (!text) return text.error();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return broken(home, "the file does not hold a JSON object");
  Settings settings;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      return broken(home, fmt::format("the value of '{}' is not a string", key));
    settings[key] = value.get<std::string>();
    if (const Status good = check_setting(key, settings[key]); !good)
      return broken(home, good.error().message);
  }
  return settings;
}

Status write_settings(const LocalHome& home, const Settings& settings) {
  TRY(io::make_directories(home.path(), 0700));
  return io::write_file_atomically(path_of(home), nlohmann::json(settings).dump(2) + "\n", 0600);
}

Status check_setting_name(const std::string& key) {
  if (std::find(kSettings.begin(), kSettings.end(), key) != kSettings.end()) return {};
  const std::string near = nearest(key, kSettings);
  return wrong_setting(
      fmt::format("unknown setting '{}'; {}", key,
                  near.empty() ? fmt::format("the settings are {}", fmt::join(kSettings, ", "))
                               : fmt::format("did you mean '{}'?", near)));
}

Status check_setting(const std::string& key, const std::string& value) {
  TRY(check_setting_name(key));
  if (key == kDefaultOutput)
    return format_from(value) ? Status()
                              : Status(wrong_setting(fmt::format(
                                    "{}: '{}' is not table, json, yaml or tsv", key, value)));
  if (key == kDefaultExperiment) {
    const bool is_good = !value.empty() && value.size() <= kMostExperiment &&
                         Json::parse(Json(value).dump(-1, ' ', false, kReplaceBytes)) == value &&
                         in_one_line(value) == value;
    return is_good ? Status()
                   : Status(wrong_setting(
                         fmt::format("{}: the name of an experiment is one line of 1 to "
                                     "{} bytes",
                                     key, kMostExperiment)));
  }
  const Status named = check_compute_name(value);
  return named ? Status() : Status(named.error().within(key));
}

namespace {

Result<std::string> setting(const LocalHome& home, std::string_view key) {
  TRY_ASSIGN(const Settings settings, read_settings(home));
  const auto chosen = settings.find(std::string(key));
  return chosen == settings.end() ? std::string() : chosen->second;
}

}  // namespace

Status choose_experiment(const LocalHome& home, JobSpec& spec) {
  if (spec.experiment_name != kNoExperiment) return {};
  TRY_ASSIGN(const std::string chosen, setting(home, kDefaultExperiment));
  if (chosen.empty()) return {};
  spec.experiment_name = chosen;
  if (!spec.pipeline) return {};
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps) step.spec.experiment_name = chosen;
  spec.pipeline = std::move(pipeline);
  return {};
}

Result<std::string> default_output(const LocalHome& home) { return setting(home, kDefaultOutput); }

Result<ComputeChoice> default_compute(const LocalHome& home) {
  constexpr const char* kVariable = "LOCKSTEP_COMPUTE";
  if (const char* chosen = std::getenv(kVariable); chosen != nullptr && *chosen != '\0') {
    const std::string name(without_azureml(chosen));
    if (const Status named = check_compute_name(name); !named)
      return named.error().within(kVariable);
    return ComputeChoice{name, kVariable};
  }
  TRY_ASSIGN(const std::string chosen, setting(home, kDefaultCompute));
  return chosen.empty() ? ComputeChoice{} : ComputeChoice{chosen, std::string(kDefaultCompute)};
}

int exit_code_for(const Error& error, int otherwise) {
  return error.code == ErrorCode::not_found ? kExitUsage : otherwise;
}

Status expect_compute(Connection& connection, const ComputeChoice& choice) {
  if (choice.name.empty() || choice.name == kLocalCompute) return {};
  const auto reply = connection.ask_for<ComputesReply>(ListComputes{choice.name});
  if (reply) return {};
  Error error = reply.error().within(choice.where);
  if (error.code == ErrorCode::not_found) error.message.append("; or ").append(kHowToChooseCompute);
  return error;
}

}  // namespace lockstep::cli
