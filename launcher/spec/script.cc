#include "launcher/spec/script.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <sstream>
#include <vector>

namespace lockstep::spec {

namespace {

namespace fs = std::filesystem;

// As a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  bool plain = !word.empty();
  std::string text = "'";
  for (const char c : word) {
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      kPlain.find(c) != std::string_view::npos);
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return plain ? word : text + "'";
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// "-N 2 -n 4 ": what the #SBATCH lines say of nodes and ranks.
std::string size_of_batch(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string size;
  const auto take = [&](const std::string& line, std::string_view option, std::string_view ours) {
    const auto at = line.find(option);
    if (at == std::string::npos) return;
    const auto begin = line.find_first_not_of(" =", at + option.size());
    const auto end = line.find_first_not_of("0123456789", begin);
    if (begin == std::string::npos || begin == end) return;
    size += fmt::format("{} {} ", ours, line.substr(begin, end - begin));
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#SBATCH")) continue;
    take(line, "--nodes", "-N");
    take(line, " -N ", "-N");
    take(line, "--ntasks-per-node", "-n");
  }
  return size;
}

// "[--code DIR] -- python3 train.py": the source directory is the current one unless it is named.
std::string run_of(const std::string& path, const std::string& interpreter) {
  const fs::path file = fs::path(path).lexically_normal();
  const bool is_below = file.is_relative() && file.begin()->string() != "..";
  const std::string code =
      is_below ? "" : fmt::format("--code {} ", quoted(file.parent_path().string()));
  return fmt::format("lockstep run {}-- {} {}", code, interpreter,
                     quoted(is_below ? file.string() : file.filename().string()));
}

}  // namespace

Status refuse_script(const Source& source) {
  const std::string extension = fs::path(source.name).extension().string();
  if (extension == ".yml" || extension == ".yaml" || extension == ".json") return {};
  const std::string_view first = first_line(source.text);
  const bool is_program = first.starts_with("#!");
  const auto wrong = [&](const std::string& message) { return source.error(Place{}, message); };
  if (source.text.find("#SBATCH") != std::string_view::npos)
    return wrong(fmt::format(
        "is a Slurm batch script, not a job file (YAML), and its #SBATCH lines are not read; run "
        "the command that the script gives to srun: lockstep run {}-- COMMAND",
        size_of_batch(source.text)));
  if (extension == ".py" || (is_program && first.find("python") != std::string_view::npos))
    return wrong(fmt::format("is a Python program, not a job file (YAML); type: {}",
                             run_of(source.name, "python3")));
  if (extension == ".sh" || extension == ".bash" || is_program)
    return wrong(fmt::format("is a {}, not a job file (YAML); type: {}",
                             extension == ".sh" || extension == ".bash" || first.ends_with("sh")
                                 ? "shell script"
                                 : "program",
                             run_of(source.name, first.ends_with("/sh") ? "sh" : "bash")));
  return {};
}

}  // namespace lockstep::spec
