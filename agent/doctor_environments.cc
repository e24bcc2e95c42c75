// What this node has to make environments of packages with; see envs/venv and envs/conda.

#include <fmt/format.h>

#include "agent/doctor.h"
#include "common/io/run_program.h"

namespace lockstep::agent {
namespace {

constexpr Duration kTimeout = seconds(10);
constexpr const char* kCheck = "environments of packages";
// One line: where it is and what it can do. ensurepip is what Debian packs apart, in python3-venv.
constexpr const char* kAsk =
    "import importlib.util as u, sys; print(sys.executable, sys.version.split()[0], "
    "*[m for m in ('venv', 'ensurepip') if u.find_spec(m) is None])";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Finding finding(Verdict verdict, std::string found, std::string advice = "") {
  return {"node", kCheck, verdict, std::move(found), std::move(advice)};
}

}  // namespace

Finding examine_environments(const std::string& path) {
  const auto python = io::run_program({"python3", "-c", kAsk}, kTimeout, path);
  const std::string where = fmt::format("on the PATH {}", path);
  if (!python || python->exit_code != 0)
    return finding(Verdict::warning, fmt::format("there is no python3 {}", where),
                   "jobs with `requirements` or `conda_file` fail here: install python3 and "
                   "python3-venv, and start the agent with a PATH that has them");
  std::string said = first_line(python->text);
  const auto uv = io::run_program({"uv", "--version"}, kTimeout, path);
  const bool has_uv = uv && uv->exit_code == 0;
  const auto interpreter_end = said.find(' ');
  const auto version_end = said.find(' ', interpreter_end + 1);
  const bool is_whole = version_end == std::string::npos;
  const std::string name = said.substr(0, version_end);
  if (has_uv) return finding(Verdict::ok, fmt::format("{}; {}", name, first_line(uv->text)));
  if (is_whole) return finding(Verdict::ok, fmt::format("{}, with venv and pip", name));
  return finding(Verdict::warning,
                 fmt::format("{}, without {}", name, said.substr(version_end + 1)),
                 "jobs with `requirements` or `conda_file` fail here: install python3-venv, or "
                 "put uv on the agent's PATH");
}

}  // namespace lockstep::agent
