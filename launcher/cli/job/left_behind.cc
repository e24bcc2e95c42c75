#include "launcher/cli/job/left_behind.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "common/domain/environment/variables.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

// "python", "python3" or "python3.11": a name that is searched on PATH.
bool is_python(const std::string& word) {
  return word.starts_with("python") &&
         word.find_first_not_of("0123456789.", std::string_view("python").size()) ==
             std::string::npos;
}

// The program that the job would find; "": none.
std::string on_login_path(const std::string& name, const Shell& shell) {
  for (std::size_t begin = 0; begin < kLoginPath.size();) {
    const auto end = std::min(kLoginPath.find(':', begin), kLoginPath.size());
    std::string path = std::string(kLoginPath.substr(begin, end - begin)) + "/" + name;
    if (shell.is_executable(path)) return path;
    begin = end + 1;
  }
  return "";
}

}  // namespace

Shell Shell::ours() {
  return {[](const char* variable) {
            const char* value = std::getenv(variable);
            return std::string(value == nullptr ? "" : value);
          },
          [](const std::string& path) {
            struct stat status {};
            return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                   ::access(path.c_str(), X_OK) == 0;
          }};
}

std::string python_left_behind(const JobSpec& spec, const Shell& shell) {
  const auto* argv = std::get_if<Argv>(&spec.command);
  if (argv == nullptr || argv->words.empty() || !is_python(argv->words[0])) return "";
  if (spec.environment || spec.environment_variables.count("PATH") != 0) return "";
  std::string active = shell.variable("VIRTUAL_ENV");
  if (active.empty()) active = shell.variable("CONDA_PREFIX");
  const std::string theirs = active + "/bin/python";
  if (active.empty() || !shell.is_executable(theirs)) return "";
  const std::string& name = argv->words[0];
  const std::string used = on_login_path(name, shell);
  return fmt::format(
      "note: the job does not use the Python environment that is active in this shell; {}. To use "
      "that environment: --interpreter {}",
      used.empty() ? fmt::format("there is no `{}` on the job's PATH", name)
                   : fmt::format("the job's `{}` is {}", name, used),
      shell_words({theirs}));
}

std::string input_left_behind(int fd) {
  struct stat status {};
  if (::isatty(fd) == 1 || ::fstat(fd, &status) != 0) return "";
  bool holds_data = false;
  if (S_ISREG(status.st_mode)) {
    holds_data = ::lseek(fd, 0, SEEK_CUR) < status.st_size;
  } else if (S_ISFIFO(status.st_mode)) {
    pollfd entry{fd, POLLIN, 0};
    holds_data = ::poll(&entry, 1, 0) <= 0 || (entry.revents & POLLIN) != 0;
  }
  if (!holds_data) return "";
  return "note: the job does not get standard input; pass it to rank 0 with --stdin, or put its "
         "input into a file in the source directory";
}

}  // namespace lockstep::cli
