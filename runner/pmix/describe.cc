#include "runner/pmix/describe.h"

#include <fmt/format.h>
#include <pmix.h>

#include <cstdlib>

#include "runner/pmix/info.h"

namespace lockstep::pmix {
namespace {

// The consecutive ranks of one node, comma-separated.
std::string ranks_of_node(const Job& job, int node) {
  std::string text;
  for (int i = 0; i < job.ranks_per_node; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(node * job.ranks_per_node + i);
  }
  return text;
}

// Adds the library's compact form of a list of nodes, or of ranks by node.
Status add_map(PmixInfo* info, const char* key, const std::string& list,
               pmix_status_t (*compact)(const char*, char**)) {
  char* text = nullptr;
  const pmix_status_t status = compact(list.c_str(), &text);
  if (status != PMIX_SUCCESS) {
    return make_error(ErrorCode::internal, fmt::format("describe the job to PMIx: {} of '{}': {}",
                                                       key, list, PMIx_Error_string(status)));
  }
  info->text(key, text);
  std::free(text);
  return {};
}

void describe_rank(const Job& job, const Directories& directories, int rank, PmixInfo* info) {
  const int node = rank / job.ranks_per_node;
  PmixInfo data;
  data.rank(PMIX_RANK, static_cast<pmix_rank_t>(rank));  // this value must be the first one
  data.rank(PMIX_GLOBAL_RANK, static_cast<pmix_rank_t>(rank));
  data.rank(PMIX_APP_RANK, static_cast<pmix_rank_t>(rank));
  data.number(PMIX_APPNUM, 0);
  data.small(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(rank % job.ranks_per_node));
  data.small(PMIX_NODE_RANK, static_cast<std::uint16_t>(rank % job.ranks_per_node));
  data.number(PMIX_NODEID, static_cast<std::uint32_t>(node));
  data.text(PMIX_HOSTNAME, job.nodes[static_cast<std::size_t>(node)]);
  if (node == job.node_rank) data.text(PMIX_PROCDIR, directories.rank(rank));
  info->array(PMIX_PROC_DATA, data);
}

const std::string& name_here(const Job& job) {
  return job.nodes[static_cast<std::size_t>(job.node_rank)];
}

}  // namespace

void describe_server(const Start& order, PmixInfo* info) {
  info->text(PMIX_SERVER_NSPACE, "ls." + order.job.name);
  info->rank(PMIX_SERVER_RANK, static_cast<pmix_rank_t>(order.job.node_rank));
  info->text(PMIX_SERVER_TMPDIR, order.directory);
  info->text(PMIX_SYSTEM_TMPDIR, order.directory);
  info->text(PMIX_HOSTNAME, name_here(order.job));
  info->flag(PMIX_SERVER_TOOL_SUPPORT, false);
  info->flag(PMIX_SERVER_REMOTE_CONNECTIONS, false);
}

Status describe_job(const Job& job, const Directories& directories, PmixInfo* info) {
  const auto world =
      static_cast<std::uint32_t>(job.nodes.size()) * static_cast<std::uint32_t>(job.ranks_per_node);
  const auto here = static_cast<std::uint32_t>(job.ranks_per_node);
  std::string node_list, rank_lists;
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    if (node > 0) {
      node_list += ',';
      rank_lists += ';';
    }
    node_list += job.nodes[node];
    rank_lists += ranks_of_node(job, static_cast<int>(node));
  }
  info->text(PMIX_JOBID, job.name);
  info->number(PMIX_UNIV_SIZE, world);
  info->number(PMIX_MAX_PROCS, world);
  info->number(PMIX_JOB_SIZE, world);
  info->number(PMIX_JOB_NUM_APPS, 1);
  info->number(PMIX_APP_SIZE, world);
  info->number(PMIX_NUM_NODES, static_cast<std::uint32_t>(job.nodes.size()));
  info->number(PMIX_LOCAL_SIZE, here);
  info->number(PMIX_NODE_SIZE, here);
  info->number(PMIX_NODEID, static_cast<std::uint32_t>(job.node_rank));
  info->text(PMIX_HOSTNAME, name_here(job));
  info->text(PMIX_LOCAL_PEERS, ranks_of_node(job, job.node_rank));
  info->rank(PMIX_LOCALLDR, static_cast<pmix_rank_t>(job.node_rank * job.ranks_per_node));
  info->text(PMIX_TMPDIR, directories.server);
  info->text(PMIX_NSDIR, directories.job());
  info->flag(PMIX_TDIR_RMCLEAN, true);
  TRY(add_map(info, PMIX_NODE_MAP, node_list, PMIx_generate_regex));
  TRY(add_map(info, PMIX_PROC_MAP, rank_lists, PMIx_generate_ppn));
  for (std::uint32_t rank = 0; rank < world; ++rank)
    describe_rank(job, directories, static_cast<int>(rank), info);
  return {};
}

}  // namespace lockstep::pmix
