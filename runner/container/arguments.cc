#include "runner/container/arguments.h"

#include <algorithm>
#include <iterator>

namespace lockstep::runner {
namespace {

// Those without a value in the next word.
bool is_flag(const std::string& name) {
  constexpr const char* kFlags[] = {"detach",         "disable-content-trust",
                                    "help",           "init",
                                    "interactive",    "privileged",
                                    "no-healthcheck", "publish-all",
                                    "quiet",          "oom-kill-disable",
                                    "read-only",      "rm",
                                    "sig-proxy",      "tty",
                                    "use-api-socket"};
  return std::find(std::begin(kFlags), std::end(kFlags), name) != std::end(kFlags);
}

std::string name_of(char letter) {
  switch (letter) {
    case 'e': return "env";
    case 'l': return "label";
    case 'v': return "volume";
    default: return {1, letter};
  }
}

}  // namespace

Arguments::Arguments(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_letter = word[1] != '-';
    const auto equals = word.find('=');
    const std::string name = is_letter ? name_of(word[1]) : word.substr(2, equals - 2);
    if (is_letter && word.size() > 2)
      given_.emplace_back(name, word.substr(word[2] == '=' ? 3 : 2));
    else if (!is_letter && equals != word.npos)
      given_.emplace_back(name, word.substr(equals + 1));
    else if (is_flag(name))
      given_.emplace_back(name, "true");
    else if (i + 1 < words.size())
      given_.emplace_back(name, words[++i]);
  }
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  std::vector<std::string> values;
  for (const auto& [given, value] : given_)
    if (given == name) values.push_back(value);
  return values;
}

std::string Arguments::last(const std::string& name) const {
  const auto values = all(name);
  return values.empty() ? "" : values.back();
}

bool Arguments::is_on(const std::string& flag) const {
  const std::string value = last(flag);
  return value == "1" || value == "t" || value == "T" || value == "true" || value == "True" ||
         value == "TRUE";
}

std::map<std::string, std::string> Arguments::variables() const {
  std::map<std::string, std::string> variables;
  for (const std::string& text : all("env"))
    if (const auto equals = text.find('='); equals != text.npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  return variables;
}

}  // namespace lockstep::runner
