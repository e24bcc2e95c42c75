#pragma once
// The variables with which MPI libraries start without mpirun, and the nodes' names. It only
// computes.

#include <map>
#include <string>
#include <vector>

#include "runner/bootstrap/gang_context.h"
#include "runner/pmix/directories.h"

namespace lockstep::runner {

class Variables;

// One name per node, unique in the gang even if several nodes share a host name, because PMIx
// identifies nodes by it.
std::vector<std::string> pmix_node_names(const GangTable& gang);

// Sets Open MPI's variables of one rank: its identity as mpirun sets it, and defaults that the
// user's own OMPI_MCA_* variables override.
void set_open_mpi(const GangContext& gang, const pmix::Directories& directories, int rank,
                  int local_rank, Variables* out);

// The variables that MPICH and its relatives read, such as Intel MPI: a rank's identity, and its
// connection, which is the inherited descriptor `fd`. runner/fabric sets the network between the
// nodes.
std::map<std::string, std::string> pmi1_variables(const GangContext& gang, int rank, int fd);

}  // namespace lockstep::runner
