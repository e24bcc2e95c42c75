#include "runner/container/arguments.h"

#include <utility>

#include "common/domain/environment/docker_args.h"

namespace lockstep::runner {

Arguments::Arguments(const std::vector<std::string>& words) {
  // The launcher has already refused arguments that cannot be parsed.
  for (auto& [option, value] : read_docker_args(words).value_or(std::vector<DockerArg>()))
    given_.emplace_back(option->name, std::move(value));
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

std::vector<std::string> Arguments::without_variables() const {
  std::vector<std::string> words;
  for (const auto& [name, value] : given_)
    if (name != "env") words.push_back("--" + name + "=" + value);
  return words;
}

// The format has no quoting, so variables that it cannot express are left out.
std::string env_file_text(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    const bool fits = !name.empty() && name[0] != '#' &&
                      name.find_first_of(" \t\r\n") == name.npos &&
                      value.find_first_of("\r\n") == value.npos;
    if (fits) text += name + "=" + value + "\n";
  }
  return text;
}

}  // namespace lockstep::runner
