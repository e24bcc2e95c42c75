#include "envs/conda/pack.h"

#include <fmt/format.h>

#include <utility>

#include "common/io/file_system.h"
#include "envs/conda/conda.h"
#include "envs/tool.h"

namespace lockstep::envs {
namespace {

// Removes the contents only: the folder's parent belongs to another user.
Status empty(const std::string& folder) {
  TRY_ASSIGN(const auto names, io::list_directory(folder));
  for (const std::string& name : names) TRY(io::remove_tree(fmt::format("{}/{}", folder, name)));
  return {};
}

}  // namespace

Result<PackedConda> pack_conda(Toolbox& tools, const CondaEnvironment& definition,
                               const Site& site) {
  const std::string folder = tools.variable("TMPDIR");
  if (folder.empty()) return make_error(ErrorCode::internal, "TMPDIR is not set");
  TRY(io::make_directories(site.prefix, 0700));
  const auto before = tools.variables();
  CondaProvider conda(definition);
  PackedConda packed;
  TRY_ASSIGN(packed.lock, conda.solve(tools, site));
  tools.use(before);
  TRY(empty(site.prefix));
  TRY_ASSIGN(packed.activation, conda.build(tools, site, packed.lock));
  tools.use(before);
  tools.show("packing the packages");
  TRY(run_tool(tools,
               {"tar", "--create", "--file", fmt::format("{}/{}", folder, kPackedFile),
                "--directory", site.prefix, "--sort=name", "--owner=0", "--group=0",
                "--numeric-owner", "--mode=a+rX,go-w,ug-s", "."},
               "the packages could not be packed"));
  return packed;
}

}  // namespace lockstep::envs
