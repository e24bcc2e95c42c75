#include "runner/bootstrap/mpi_settings.h"

#include <fmt/format.h>

#include <set>

#include "runner/bootstrap/rank_variables.h"

namespace lockstep::runner {

std::vector<std::string> pmix_node_names(const GangTable& gang) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const GangMember& member : gang.members) {
    names.push_back(member.hostname.substr(0, member.hostname.find('.')));
    seen.insert(names.back());
  }
  if (seen.size() == names.size() && seen.count("") == 0) return names;
  for (std::size_t node = 0; node < names.size(); ++node) {
    names[node] = fmt::format("{}-{}", names[node].empty() ? "node" : names[node], node);
  }
  return names;
}

void set_open_mpi(const GangContext& gang, const pmix::Directories& directories, int rank,
                  int local_rank, Variables* out) {
  const Assignment& assignment = gang.assignment;
  out->set("OMPI_COMM_WORLD_RANK", rank);
  out->set("OMPI_COMM_WORLD_SIZE", gang.world_size());
  out->set("OMPI_COMM_WORLD_LOCAL_RANK", local_rank);
  out->set("OMPI_COMM_WORLD_LOCAL_SIZE", assignment.ranks_here());
  out->set("OMPI_COMM_WORLD_NODE_RANK", local_rank);
  out->set("OMPI_UNIVERSE_SIZE", gang.world_size());

  // Without this, Open MPI 4 looks for its own daemon, and each rank silently becomes "rank 0 of
  // 1".
  out->force("OMPI_MCA_schizo", "^orte");
  out->set("OMPI_MCA_btl_vader_backing_directory", directories.shared_memory());
  if (gang.oversubscribed) out->set("OMPI_MCA_mpi_yield_when_idle", 1);
  // Keeps hwloc from opening every X display and every OpenCL device in each rank.
  out->set("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so");
  // Engines mostly forbid a process to read another's memory. Open MPI would retry for ever and
  // print a line each time. The variable has one name in Open MPI 4, another in 5.
  if (gang.container) {
    out->set("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    out->set("OMPI_MCA_smsc", "^cma");
  }
}

std::map<std::string, std::string> pmi1_variables(const GangContext& gang, int rank, int fd) {
  const auto& variables = gang.assignment.spec.environment_variables;
  Variables out(gang);
  out.force("PMI_FD", std::to_string(fd));
  out.force("PMI_RANK", std::to_string(rank));
  out.force("PMI_SIZE", std::to_string(gang.world_size()));
  out.set("MPIR_CVAR_PMI_VERSION",
          1);  // MPICH 5 stops if it finds PMIX_NAMESPACE beside PMI_SIZE
  // Intel MPI includes PMI-1; it uses PMIx only with a library that the job names.
  out.set("I_MPI_PMI", variables.count("I_MPI_PMI_LIBRARY") > 0 ? "pmix" : "pmi1");
  return out.take();
}

}  // namespace lockstep::runner
