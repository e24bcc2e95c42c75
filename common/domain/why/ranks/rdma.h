#pragma once
// Why the ranks of a node do not use RDMA, or could not.

#include <optional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/domain/job/spec.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// The causes that are seen before ranks start.
enum class RdmaLack {
  no_port,
  no_active_port,
  no_partition,  // no active port is a full member of a partition
  no_gid,        // all active ports are of RoCE, and none has one of an IP address
  no_device_files,
  locked_memory,
  // The job's own words:
  wrong_gid,   // a GID index that no active port has
  wrong_pkey,  // a partition that no active port is in
};
std::string_view to_string(RdmaLack lack);
constexpr RdmaLack last_enumerator(RdmaLack) { return RdmaLack::wrong_pkey; }

struct RdmaIsLacking {
  static constexpr std::string_view kCode = "rdma_is_lacking";
  RdmaLack lack = RdmaLack::no_port;
  std::string of;  // "mlx5_0:1 is DOWN", "NCCL_IB_GID_INDEX=7"
  Bytes lockable;  // locked_memory
  LOCKSTEP_FIELDS(RdmaIsLacking, lack, of, lockable);
};

// The causes that are seen while ranks run.
enum class SocketsCause {
  unknown,
  disabled,          // a variable of the job chooses sockets
  no_device_files,   // /dev/infiniband is not there for the ranks
  no_verbs_library,  // libibverbs cannot be opened
  no_device,         // the library found no device or port that it can use
  locked_memory,     // memory could not be locked
  wrong_gid,
  wrong_pkey,
  no_answer,   // the ports are there, but what one sends does not reach the other
  no_plugin,   // the network plugin that the job names is not there
  not_opened,  // the library of the ranks opened no RDMA device
};
std::string_view to_string(SocketsCause cause);
constexpr SocketsCause last_enumerator(SocketsCause) { return SocketsCause::not_opened; }

struct RanksAvoidRdma {
  static constexpr std::string_view kCode = "ranks_avoid_rdma";
  SocketsCause cause = SocketsCause::unknown;
  std::string of;                   // of the cause: "NCCL_IB_DISABLE=1", a call with its reason
  std::optional<SettingSource> by;  // the source of a variable in `of`, if the job did not set it
  std::string set_for;              // why: see NetworkSetting::reason
  std::string library;              // "NCCL 2.28.9", "MPI"; "": not known
  bool has_failed = false;          // RDMA was chosen, and a call of it failed; else they use TCP
  bool in_container = false;
  LOCKSTEP_FIELDS(RanksAvoidRdma, cause, of, by, set_for, library, has_failed, in_container);
};

// A job wants RDMA, and its ranks do not use it.
struct RdmaIsNotUsed {
  static constexpr std::string_view kCode = "rdma_is_not_used";
  Rdma wanted = Rdma::preferred;
  Why why;
  bool uses_tcp = false;  // no library can use RDMA on the node
  LOCKSTEP_FIELDS(RdmaIsNotUsed, wanted, why, uses_tcp);
};

struct ContainerLacksRdma {  // the agent's user may not open the devices
  static constexpr std::string_view kCode = "container_lacks_rdma";
  std::string engine;
  LOCKSTEP_FIELDS(ContainerLacksRdma, engine);
};

struct ContainerLocksLittle {
  static constexpr std::string_view kCode = "container_locks_little";
  std::string engine;
  bool is_rootless = false;
  LOCKSTEP_FIELDS(ContainerLocksLittle, engine, is_rootless);
};

using RdmaReasons =
    List<RdmaIsLacking, RanksAvoidRdma, RdmaIsNotUsed, ContainerLacksRdma, ContainerLocksLittle>;

}  // namespace lockstep
