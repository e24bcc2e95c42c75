#include "envs/docker/conda_image.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "common/io/file_system.h"
#include "envs/conda/conda.h"
#include "envs/docker/docker.h"

namespace lockstep::envs {
namespace {

constexpr std::string_view kGlibc = "__glibc=";

// As conda calls it, with the image's C library instead of the nodes'.
std::string platform_in(const Site& site, const std::string& glibc) {
  utsname kernel{};
  ::uname(&kernel);
  const std::string_view machine = kernel.machine;
  auto packages = conda_platform_of(site.platform).virtual_packages;
  std::erase_if(packages, [](const std::string& one) { return one.starts_with(kGlibc); });
  packages.push_back(fmt::format("{}{}", kGlibc, glibc));
  std::sort(packages.begin(), packages.end());
  return fmt::format("linux-{} {}", machine == "x86_64" ? "64" : machine, fmt::join(packages, " "));
}

// As text of a JSON list in a Dockerfile, in which variables would be replaced.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '"' || c == '\\' || c == '$') out += '\\';
    out += c;
  }
  return out;
}

Status empty(const std::string& folder) {
  TRY(io::remove_tree(folder));
  return io::make_directories(folder, 0755);
}

Status copy_into_image(Toolbox& tools, const Engine& engine, const Site& site, Lock& lock) {
  // Ranks are of any user.
  TRY(run_tool(tools, {"chmod", "-R", "a+rX", site.prefix},
               "the packages could not be made readable"));
  TRY_ASSIGN(const std::string scratch, scratch_of(tools));
  const std::string dockerfile = scratch + "/Dockerfile";
  const std::string text =
      fmt::format("FROM {}\nCOPY [\".\", \"{}/\"]\nLABEL lockstep.environment=conda\n",
                  site.image.tag, escaped(site.prefix));
  TRY(io::write_file_atomically(dockerfile, text, 0644, false));
  TRY_ASSIGN(lock.image->id,
             engine.build({site.prefix, dockerfile, site.image.tag, scratch, site.is_rebuild}));
  lock.image->digest.clear();
  return {};
}

}  // namespace

Status add_conda(Toolbox& tools, const Engine& engine, const Site& site,
                 const CondaEnvironment& definition, const std::string& glibc, Lock& lock) {
  if (glibc.empty())
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the image {} has no glibc, for which conda packages are made (it is of "
                    "busybox or musl): choose one of Debian, Ubuntu, Fedora, …",
                    lock.image->name));
  const auto before = tools.variables();
  Site inside = site;
  inside.platform = platform_in(site, glibc);
  CondaProvider conda(definition);
  TRY_ASSIGN(Lock packages, conda.solve(tools, inside));
  tools.use(before);
  TRY(empty(site.prefix));
  TRY_ASSIGN(Activation activation, conda.build(tools, inside, packages));
  tools.use(before);
  lock.packages = std::move(packages.packages);
  lock.conda = std::move(packages.conda);
  lock.solver += ", " + packages.solver;
  lock.image->interpreter = activation.interpreter;
  lock.image->version = activation.version;
  lock.image->path = activation.path;
  lock.image->variables = std::move(activation.variables);
  return copy_into_image(tools, engine, site, lock);
}

}  // namespace lockstep::envs
