#include "common/domain/environment/variables.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lockstep {

namespace {

bool valid_name(const std::string& name) {
  return !name.empty() && name.find('=') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// Linux passes no longer argument to a program (MAX_ARG_STRLEN, which counts the closing NUL).
constexpr std::size_t kMaxWordBytes = (1 << 17) - 1;

// Variables that runner/bootstrap, runner/steps and conda's activation set.
constexpr std::array<std::string_view, 17> kRankVariables{"RANK",
                                                          "LOCAL_RANK",
                                                          "WORLD_SIZE",
                                                          "LOCAL_WORLD_SIZE",
                                                          "NODE_RANK",
                                                          "GROUP_RANK",
                                                          "ROLE_RANK",
                                                          "GROUP_WORLD_SIZE",
                                                          "ROLE_WORLD_SIZE",
                                                          "MASTER_ADDR",
                                                          "MASTER_PORT",
                                                          "CONDA_SHLVL",
                                                          "CONDA_PREFIX",
                                                          "CONDA_DEFAULT_ENV",
                                                          "PATH",
                                                          "CUDA_VISIBLE_DEVICES",
                                                          "TF_CONFIG"};
constexpr std::array<std::string_view, 6> kRankBeginnings{"LOCKSTEP_", "AZUREML_", "AZURE_ML_",
                                                          "AZ_BATCH",  "PMIX_",    "TORCHELASTIC_"};

}  // namespace

Status validate_variables(const std::string& key,
                          const std::map<std::string, std::string>& variables) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : variables) {
    if (!valid_name(name)) return invalid(key + ": '" + name + "' is not a variable name");
    if (value.find('\0') != std::string::npos)
      return invalid(key + "." + name + ": holds a NUL byte");
    if (const std::size_t word = name.size() + 1 + value.size(); word > kMaxWordBytes)
      return invalid(key + "." + name + ": has " + std::to_string(word) +
                     " bytes with its name; at most " + std::to_string(kMaxWordBytes) +
                     " are possible; put the value in a file");
    bytes += name.size() + value.size() + 2;
  }
  if (bytes > kMaxEnvironmentBytes)
    return invalid(key + ": " + std::to_string(bytes) + " bytes in total; at most " +
                   std::to_string(kMaxEnvironmentBytes) + " are possible");
  return {};
}

std::string unreplaced_in(std::string_view value) {
  const auto is_of_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  const auto begins_name = [&](std::size_t at) {
    return at < value.size() && is_of_name(value[at]) &&
           std::isdigit(static_cast<unsigned char>(value[at])) == 0;
  };
  for (std::size_t at = value.find('$'); at != std::string_view::npos;
       at = value.find('$', at + 1)) {
    const bool has_brace = at + 1 < value.size() && value[at + 1] == '{';
    const std::size_t begin = at + (has_brace ? 2 : 1);
    std::size_t end = begin;
    while (begins_name(begin) && end < value.size() && is_of_name(value[end])) ++end;
    const bool is_closed = !has_brace || (end < value.size() && value[end] == '}');
    if (end > begin && is_closed)
      return std::string(value.substr(at, end + (has_brace ? 1 : 0) - at));
  }
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(':', begin), value.size());
    const std::string_view part = value.substr(begin, end - begin);
    if (part == "~" || part.starts_with("~/")) return std::string(part);
    begin = end + 1;
  }
  return "";
}

std::string unreplaced_note(const std::string& key, const std::string& name,
                            std::string_view value) {
  const std::string found = unreplaced_in(value);
  if (found.empty()) return "";
  return "'" + key + "': '" + found +
         "' stays as it is, because no shell reads the value; to have it replaced on the node, set "
         "the variable in the command: export " +
         name + "=\"" + std::string(value) + "\"; …" +
         (found.starts_with('~') ? " (with $HOME in place of ~)" : "");
}

bool is_rank_variable(std::string_view name) {
  return std::find(kRankVariables.begin(), kRankVariables.end(), name) != kRankVariables.end() ||
         std::any_of(kRankBeginnings.begin(), kRankBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace lockstep
