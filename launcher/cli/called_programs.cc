#include "launcher/cli/called_programs.h"

#include <algorithm>
#include <array>

namespace lockstep::cli {

namespace {

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Whether a command may begin behind this text of its line: at the line's start, behind ; & | ( `
// {, or behind a word that has a command.
bool begins_command(std::string_view before) {
  const bool is_apart = before.empty() || is_blank(before.back());
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  if (before.empty()) return true;
  if (std::string_view(";&|(`{!").find(before.back()) != std::string_view::npos) return true;
  if (!is_apart) return false;
  const auto blank = before.find_last_of(" \t;&|(`{");
  const std::string_view word = blank == before.npos ? before : before.substr(blank + 1);
  constexpr std::array<std::string_view, 11> kLeads{
      "time", "nohup", "exec", "env", "command", "sudo", "if", "then", "do", "else", "while"};
  if (std::find(kLeads.begin(), kLeads.end(), word) != kLeads.end()) return true;
  // VARIABLE=value srun
  const auto equals = word.find('=');
  const bool is_setting =
      equals != word.npos && equals > 0 &&
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_of_name);
  return is_setting && begins_command(before.substr(0, before.size() - word.size()));
}

}  // namespace

bool calls(std::string_view line, std::string_view program) {
  for (std::size_t at = 0; (at = line.find(program, at)) != line.npos; at += program.size()) {
    const std::size_t end = at + program.size();
    const bool ends = end == line.size() || is_blank(line[end]) || line[end] == ';' ||
                      line[end] == ')' || line[end] == '`';
    std::string_view before = line.substr(0, at);
    // With its path.
    if (before.ends_with('/')) {
      const auto blank = before.find_last_of(" \t;&|(`{=\"'");
      before = before.substr(0, blank == before.npos ? 0 : blank + 1);
    }
    if (ends && begins_command(before)) return true;
  }
  return false;
}

}  // namespace lockstep::cli
