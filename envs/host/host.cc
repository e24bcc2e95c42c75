#include "envs/host/host.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::envs {
namespace {

constexpr std::size_t kMaxVersionBytes = 40;

// Quotes the text for sh.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "3.11.2" or "3.13.0rc1". The version becomes a part of names.
bool is_version(std::string_view text) {
  constexpr std::string_view kLetters = "0123456789.abcdefghijklmnopqrstuvwxyz+-";
  return text.size() >= 3 && text.size() <= kMaxVersionBytes && text[0] >= '0' && text[0] <= '9' &&
         text.find('.') != std::string_view::npos &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Why the interpreter cannot be used: it was not found, or is a directory.
std::string why_not_found(const Toolbox& tools, const std::string& interpreter) {
  constexpr std::string_view kNotRun = "exists, but this user may not run it";
  if (interpreter.find('/') != std::string::npos) {
    if (is_directory(interpreter)) return "is a directory";
    if (is_there(interpreter)) return std::string(kNotRun);
    return errno == EACCES ? "cannot be reached: this user may not enter a folder above it"
                           : "does not exist";
  }
  const std::string path = tools.variable("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const std::string file = fmt::format("{}/{}", folder, interpreter);
    if (folder.starts_with('/') && is_there(file)) return fmt::format("({}) {}", file, kNotRun);
  }
  return fmt::format("does not exist: no folder of PATH has it ({})", path);
}

}  // namespace

Result<std::string> version_of(Toolbox& tools, const std::string& interpreter) {
  const std::string program = tools.find(interpreter);
  if (program.empty() || is_directory(program))
    return make_error(ErrorCode::not_found, fmt::format("the interpreter '{}' {}", interpreter,
                                                        why_not_found(tools, interpreter)));
  TRY_ASSIGN(const Toolbox::Answer answer,
             tools.run({program, "-c", "import platform; print(platform.python_version())"},
                       Toolbox::Output::wanted));
  std::string version = answer.output.substr(0, answer.output.find('\n'));
  if (answer.exit_code != 0 || !is_version(version))
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the interpreter '{}' did not report its version; it exited with {}{}{}",
                    interpreter, answer.exit_code, answer.tail.empty() ? "" : ": ", answer.tail));
  return version;
}

Result<Lock> HostProvider::solve(Toolbox&, const Site&) {
  return make_error(ErrorCode::internal, "a user-managed environment has no lock");
}

Result<Activation> HostProvider::build(Toolbox& tools, const Site& site, const Lock&) {
  Activation activation;
  if (definition_.interpreter.empty()) return activation;
  TRY_ASSIGN(activation.version, version_of(tools, definition_.interpreter));
  activation.interpreter = tools.find(definition_.interpreter);
  const std::string folder = site.prefix + "/bin";
  TRY(io::make_directories(folder));
  const std::string script =
      fmt::format("#!/bin/sh\nexec {} \"$@\"\n", quoted(activation.interpreter));
  for (const char* name : {"python", "python3"})
    TRY(io::write_file_atomically(fmt::format("{}/{}", folder, name), script, 0755, false));
  // Programs beside the interpreter belong to it: pip, torchrun, …
  activation.path = {folder, activation.interpreter.substr(0, activation.interpreter.rfind('/'))};
  return activation;
}

}  // namespace lockstep::envs
