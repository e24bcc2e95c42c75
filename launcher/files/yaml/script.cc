#include "launcher/files/yaml/script.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <vector>

namespace lockstep::spec {

namespace {

namespace fs = std::filesystem;

// Quotes the word for a shell if necessary.
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

// "[--code DIR] -- python3 train.py"; the current directory needs no --code.
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
        "is a Slurm batch script, not a job file (YAML); type: lockstep run --sbatch {}",
        quoted(source.name)));
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
