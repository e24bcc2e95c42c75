#include "common/domain/targets/provider_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/bytes.h"
#include "common/base/nearest.h"

namespace lockstep {
namespace {

using Kind = SettingKey::Kind;

constexpr std::array<SettingKey, 7> kDocker{{{"image", Kind::word, true},
                                             {"cpus", Kind::number},
                                             {"memory", Kind::bytes},
                                             {"shm_size", Kind::bytes},
                                             {"gpus", Kind::word},
                                             {"network", Kind::word},
                                             {"args", Kind::words}}};
constexpr std::array<SettingKey, 7> kSlurm{{{"directory", Kind::path, true},
                                            {"partition", Kind::word},
                                            {"account", Kind::word},
                                            {"qos", Kind::word},
                                            {"time", Kind::word},
                                            {"constraint", Kind::word},
                                            {"options", Kind::words}}};
constexpr std::array<SettingKey, 1> kSsh{{{"share", Kind::word}}};
constexpr std::array<SettingKey, 1> kCommand{{{"program", Kind::name, true}}};
constexpr std::array<SettingKey, 25> kKubernetes{{{"image", Kind::word, true},
                                                  {"bundle_image", Kind::word},
                                                  {"kubeconfig", Kind::name},
                                                  {"context", Kind::word},
                                                  {"namespace", Kind::word},
                                                  {"cpus", Kind::number},
                                                  {"memory", Kind::bytes},
                                                  {"shm_size", Kind::bytes},
                                                  {"gpus", Kind::number},
                                                  {"gpu_resource", Kind::word},
                                                  {"resources", Kind::pairs},
                                                  {"host_network", Kind::flag},
                                                  {"capabilities", Kind::words},
                                                  {"service_account", Kind::word},
                                                  {"image_pull_secrets", Kind::words},
                                                  {"image_pull_policy", Kind::word},
                                                  {"priority_class", Kind::word},
                                                  {"scheduler", Kind::word},
                                                  {"runtime_class", Kind::word},
                                                  {"queue", Kind::word},
                                                  {"node_selector", Kind::pairs},
                                                  {"tolerations", Kind::words},
                                                  {"labels", Kind::pairs},
                                                  {"annotations", Kind::pairs},
                                                  {"active_deadline_seconds", Kind::number}}};

Error bad_setting(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_positive(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         value > 0;
}

Status check_word(const SettingKey& key, const std::string& word) {
  if (word.empty() || word.size() > kMaxSettingBytes || !is_printable(word))
    return bad_setting(fmt::format("{}: a value must be one line of 1 to {} characters", key.name,
                                   kMaxSettingBytes));
  switch (key.kind) {
    case Kind::word:
      // The word becomes the value of another program's option.
      if (word[0] == '-')
        return bad_setting(fmt::format("{}: '{}' begins with '-'", key.name, word));
      return {};
    case Kind::number:
      if (!is_positive(word))
        return bad_setting(fmt::format("{}: '{}' is not a number above 0", key.name, word));
      return {};
    case Kind::bytes:
      if (const auto size = parse_bytes(word); !size || size->count == 0)
        return bad_setting(
            fmt::format("{}: '{}' is not a size, such as 2g or 512m", key.name, word));
      return {};
    case Kind::path:
      if (word[0] != '/')
        return bad_setting(fmt::format("{}: '{}' is not an absolute path", key.name, word));
      return {};
    case Kind::name:
      if (word[0] == '.' || word[0] == '-' || word.find('/') != std::string::npos)
        return bad_setting(fmt::format(
            "{}: '{}' is not the name of a file: it may not have '/', nor begin with . or -",
            key.name, word));
      return {};
    case Kind::pairs:
      if (const auto equals = word.find('='); equals == std::string::npos || equals == 0)
        return bad_setting(fmt::format("{}: '{}' is not KEY=VALUE", key.name, word));
      return {};
    case Kind::flag:
      if (word != "true" && word != "false")
        return bad_setting(fmt::format("{}: '{}' is not true or false", key.name, word));
      return {};
    case Kind::words: return {};
  }
  return {};
}

Status check_words(const SettingKey& key, const std::vector<std::string>& words) {
  if (key.kind != Kind::words && key.kind != Kind::pairs && words.size() != 1)
    return bad_setting(fmt::format("{} takes one value, not {}", key.name, words.size()));
  if (words.size() > kMaxSettingWords)
    return bad_setting(fmt::format("{} has {} values; the most allowed are {}", key.name,
                                   words.size(), kMaxSettingWords));
  for (const std::string& word : words) TRY(check_word(key, word));
  return {};
}

Error unknown(NodeSource source, std::span<const SettingKey> keys, const std::string& name) {
  if (keys.empty())
    return bad_setting(
        fmt::format("node source '{}' has no setting '{}'", to_string(source), name));
  std::vector<std::string_view> words;
  for (const SettingKey& key : keys) words.push_back(key.name);
  const std::string near = nearest(name, words);
  return bad_setting(fmt::format("node source {} has no setting '{}'; {}", to_string(source), name,
                                 near.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                                              : fmt::format("did you mean '{}'?", near)));
}

}  // namespace

bool is_machine_share(const std::string& text) {
  if (text.empty()) return true;
  const auto slash = text.find('/');
  if (slash == std::string::npos || text.size() > 9) return false;
  const std::string part = text.substr(0, slash), of = text.substr(slash + 1);
  for (const std::string& number : {part, of})
    if (number.empty() || number.size() > 4 || number[0] == '0' ||
        number.find_first_not_of("0123456789") != std::string::npos)
      return false;
  return std::stoi(part) <= std::stoi(of);
}

Word describe(NodeSource source) {
  switch (source) {
    case NodeSource::none: return {0, ""};
    case NodeSource::join: return {1, "join"};
    case NodeSource::ssh: return {2, "ssh"};
    case NodeSource::docker: return {3, "docker"};
    case NodeSource::slurm: return {4, "slurm"};
    case NodeSource::command: return {5, "command"};
    case NodeSource::kubernetes: return {6, "kubernetes"};
  }
  return {};
}
std::string_view to_string(NodeSource source) { return describe(source).word; }

std::span<const SettingKey> setting_keys(NodeSource source) {
  switch (source) {
    case NodeSource::docker: return kDocker;
    case NodeSource::slurm: return kSlurm;
    case NodeSource::command: return kCommand;
    case NodeSource::kubernetes: return kKubernetes;
    case NodeSource::none:
    case NodeSource::join: return {};
    case NodeSource::ssh: return kSsh;
  }
  return {};
}

Status check_setting(NodeSource source, const std::string& name,
                     const std::vector<std::string>& words) {
  const auto keys = setting_keys(source);
  if (name.empty() || name.size() > kMaxSettingBytes || !is_printable(name))
    return bad_setting("a setting needs a name of one line");
  const auto known = std::find_if(keys.begin(), keys.end(),
                                  [&](const SettingKey& key) { return key.name == name; });
  if (known == keys.end() && source != NodeSource::command) return unknown(source, keys, name);
  if (source == NodeSource::ssh && words.size() == 1 && !is_machine_share(words.front()))
    return bad_setting(fmt::format(
        "share '{}' does not name a part of a machine; write I/N, as in 1/2 for the first of two",
        words.front()));
  const SettingKey any{name, Kind::words};
  return check_words(known == keys.end() ? any : *known, words);
}

Status check_settings(NodeSource source, const ProviderSettings& settings) {
  const auto keys = setting_keys(source);
  if (settings.size() > kMaxSettings)
    return bad_setting(fmt::format("there are {} settings; the most allowed are {}",
                                   settings.size(), kMaxSettings));
  for (const auto& [name, words] : settings) TRY(check_setting(source, name, words));
  for (const SettingKey& key : keys)
    if (key.is_required && settings.count(std::string(key.name)) == 0)
      return bad_setting(
          fmt::format("node source {} needs the setting '{}'", to_string(source), key.name));
  return {};
}

}  // namespace lockstep
