// Findings about the tools with which this node makes environments from packages and images; see
// envs.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <iterator>
#include <vector>

#include "agent/daemon/doctor.h"
#include "common/io/programs/run_program.h"
#include "envs/docker/info.h"

namespace lockstep::agent {
namespace {

constexpr Duration kTimeout = seconds(10);
constexpr const char* kContainers = "containers";
constexpr const char* kCheck = "environments of packages";
// Prints one line: where Python is and what it can do. Debian has ensurepip in a package of its
// own, python3-venv.
constexpr const char* kAsk =
    "import importlib.util as u, sys; print(sys.executable, sys.version.split()[0], "
    "*[m for m in ('venv', 'ensurepip') if u.find_spec(m) is None])";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Limitations of the engine, as far as they are known without running an image.
std::string limitations_of(const envs::EngineInfo& engine) {
  std::vector<std::string> limitations;
  if (!engine.limits_memory)
    limitations.emplace_back("the engine cannot limit the memory of containers");
  if (engine.mounts_lead_out)
    limitations.emplace_back(
        "its builds can reach files of this node by RUN --mount (CVE-2024-1753, CVE-2024-9407, "
        "CVE-2024-9675): Dockerfiles with one are refused, unless LOCKSTEP_PODMAN_MOUNTS is allow");
  rlimit locked{};
  const bool is_limited =
      ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_max != RLIM_INFINITY;
  if (engine.is_rootless && is_limited)
    limitations.emplace_back(
        "locked memory is limited (ulimit -l), but RDMA needs unlimited locked memory");
  return fmt::format("{}", fmt::join(limitations, "; "));
}

Finding finding_of(const envs::EngineInfo& engine) {
  const std::string limitations = limitations_of(engine);
  if (limitations.empty()) return {"node", kContainers, Verdict::ok, engine.name, ""};
  return {"node", kContainers, Verdict::warning, fmt::format("{}: {}", engine.name, limitations),
          engine.mounts_lead_out ? "install podman 5.2.5 or docker; or, if the package has the "
                                   "fixes, set LOCKSTEP_PODMAN_MOUNTS=allow for the agent"
          : engine.is_rootless   ? "delegate the memory controller of cgroup v2 to the user; set "
                                   "LimitMEMLOCK=infinity for its session"
                                 : "enable the kernel's memory cgroup (cgroup_enable=memory)"};
}

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

Finding examine_containers(const std::string& path, const std::string& choice) {
  const auto names = choice.empty() ? std::vector<std::string>{"docker", "podman"}
                                    : std::vector<std::string>{choice};
  std::string why;
  for (const std::string& name : names) {
    std::vector<std::string> words{name};
    words.insert(words.end(), std::begin(envs::kInfoWords), std::end(envs::kInfoWords));
    const auto said = io::run_program(words, kTimeout, path);
    if (!said && said.error().code == ErrorCode::not_found) continue;
    const auto engine = said ? envs::engine_info_from(said->text, first_line(said->errors))
                             : Result<envs::EngineInfo>(said.error());
    if (engine) return finding_of(*engine);
    why += fmt::format("{}{} does not answer: {}", why.empty() ? "" : "; ", name,
                       engine.error().message);
  }
  if (!why.empty())
    return {"node", kContainers, Verdict::warning, why,
            "jobs with `image` fail here: " + envs::engine_advice(why)};
  if (!choice.empty())
    return {
        "node", kContainers, Verdict::warning,
        fmt::format("LOCKSTEP_CONTAINER_ENGINE is '{}', which is not on the PATH {}", choice, path),
        "jobs with `image` fail here: set the variable to docker or podman, or unset it"};
  return {"node", kContainers, Verdict::ok,
          "neither docker nor podman: jobs with `image` cannot run here", ""};
}

}  // namespace lockstep::agent
