#pragma once
// The job information that the PMIx server gives to the ranks, and Open MPI's settings for a start
// without mpirun. It only computes names and layout; it starts nothing.

#include <map>
#include <string>
#include <vector>

#include "runner/bootstrap/bootstrap.h"

namespace lockstep::runner {

class PmixInfo;
class Variables;

// Where PMIx and Open MPI keep their files, below the attempt's tmp/:
//   pmix/           the server's files
//   pmix/job/       the namespace's session directory
//   pmix/job/<R>/   rank R's session directory
//   pmix/shm/       shared memory of Open MPI's vader
struct PmixDirectories {
  explicit PmixDirectories(const std::string& tmp) : server(tmp + "/pmix") {}
  std::string server;
  std::string job() const { return server + "/job"; }
  std::string rank(int rank) const { return job() + "/" + std::to_string(rank); }
  std::string shared_memory() const { return server + "/shm"; }
};

// One name per node, unique in the gang even if several nodes share a host name, because PMIx
// identifies nodes by it.
std::vector<std::string> pmix_node_names(const GangTable& gang);

// Fills the job's information for PMIx_server_register_nspace.
Status describe_job(const GangContext& gang, const PmixDirectories& directories, PmixInfo* info);

// Open MPI's variables of one rank: its identity as mpirun sets it, and defaults that the user's
// own OMPI_MCA_* variables override.
void set_open_mpi(const GangContext& gang, const PmixDirectories& directories, int rank,
                  int local_rank, Variables* out);

// What MPICH's family reads, Intel MPI among it: a rank's identity, its connection, which is the
// inherited descriptor `fd`, and the network between the nodes.
std::map<std::string, std::string> pmi1_variables(const GangContext& gang, int rank, int fd);

}  // namespace lockstep::runner
