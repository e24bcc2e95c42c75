#include "launcher/files/environment/venv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/files/yaml/faults.h"

namespace lockstep::spec {
namespace {

// Finds a key; nullptr: missing, or null.
const YamlNode* at(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == YamlNode::Kind::null ? nullptr : &entry->value;
}

// Reads the items of the list `key` as the lines of a requirements file.
Result<VenvEnvironment> read_list(const Source& source, const YamlNode& mapping,
                                  const std::string& section, std::string_view key,
                                  const YamlNode** odd, bool options) {
  VenvEnvironment venv;
  const YamlNode* list = at(mapping, key);
  if (list == nullptr) return venv;
  if (list->kind != YamlNode::Kind::sequence)
    return source.error(list->place, fmt::format("'{}{}' must be a list, not {}", section, key,
                                                 describe(list->kind)));
  for (const YamlNode& item : list->items) {
    if (const Status added = add_requirement(item.text, venv); !added)
      return source.error(item.place, added.error().message, added.error().code);
    const bool is_odd = options ? !venv.requirements.empty() : !venv.options.empty();
    if (is_odd && *odd == nullptr) *odd = &item;
  }
  return venv;
}

Result<std::vector<std::string>> read_options(const Source& source, const YamlNode& mapping,
                                              const std::string& section) {
  const YamlNode* odd = nullptr;
  TRY_ASSIGN(VenvEnvironment read, read_list(source, mapping, section, "options", &odd, true));
  if (odd == nullptr) return std::move(read.options);
  return source.error(
      odd->place,
      fmt::format("'{}options': '{}' is not an option; packages belong in '{}requirements'",
                  section, odd->text, section));
}

Status read_file(const Source& source, const YamlNode& name, const std::string& section,
                 const ReadText& read_text, VenvEnvironment& venv) {
  bool opened = false;
  const ReadText noticing = [&](const std::string& path) {
    auto text = read_text(path);
    opened = opened || text;
    return text;
  };
  const Status read = read_requirements(source.beside(name.text), checked(noticing), venv);
  if (read || opened) return read;
  return source.error(name.place,
                      fmt::format("'{}requirements': {}; write the name of a requirements file, "
                                  "relative to this file, or a list of packages: [a, b]",
                                  section, read.error().message),
                      read.error().code);
}

}  // namespace

Result<VenvEnvironment> read_venv(const Source& source, const YamlNode& mapping,
                                  const std::string& section, const ReadText& read_text,
                                  Notes& notes) {
  VenvEnvironment venv;
  if (const YamlNode* python = at(mapping, "python")) {
    if (const auto fault = fault_of_interpreter(python->text))
      return source.error(python->place, fmt::format("'{}python': {}", section, *fault));
    venv.python = python->text;
  }
  TRY_ASSIGN(venv.options, read_options(source, mapping, section));
  const YamlNode& lines = *at(mapping, "requirements");
  if (lines.kind == YamlNode::Kind::scalar) TRY(read_file(source, lines, section, read_text, venv));
  Faults faults;
  for (const YamlNode& item : lines.items)
    if (const Status added = add_requirement(item.text, venv); !added)
      faults.add(item.place, source.error(item.place, added.error().message, added.error().code));
  TRY(faults.status());
  TRY_ASSIGN(const auto constraints, read_constraints(source, mapping, section));
  venv.constraints.insert(venv.constraints.end(), constraints.begin(), constraints.end());
  if (venv.requirements.empty())
    notes.push_back(
        warning_of_empty(fmt::format("{}: '{}requirements'", source.where(lines.place), section)));
  return venv;
}

Result<std::vector<std::string>> read_constraints(const Source& source, const YamlNode& mapping,
                                                  const std::string& section) {
  const YamlNode* odd = nullptr;
  TRY_ASSIGN(VenvEnvironment read, read_list(source, mapping, section, "constraints", &odd, false));
  if (odd == nullptr) return std::move(read.requirements);
  return source.error(
      odd->place,
      fmt::format("'{}constraints': '{}' is an option; constraints must be packages: [a<2]",
                  section, odd->text));
}

std::optional<std::string> fault_of_interpreter(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_version =
      !text.empty() && is_digit(text.front()) &&
      std::all_of(text.begin(), text.end(), [&](char c) { return is_digit(c) || c == '.'; });
  if (!is_version) return std::nullopt;
  // Program names contain the first two numbers of the version.
  const auto minor = text.find('.');
  const auto end = minor == std::string::npos ? minor : text.find('.', minor + 1);
  return fmt::format(
      "'{}' is a version, but the name or path of an interpreter is expected; write python{}", text,
      text.substr(0, end));
}

std::string warning_of_empty(const std::string& where) {
  return where + " names no package: the environment is an empty virtual environment";
}

}  // namespace lockstep::spec
