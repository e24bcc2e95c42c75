#include "launcher/words/ranks/say_rdma.h"

#include <fmt/format.h>

#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

std::string disabled_text(const RanksAvoidRdma& reason) {
  if (!reason.by) return reason.of + " of the job keeps it from RDMA; leave it out";
  return fmt::format("{} keeps it from RDMA; {} set it: {}", reason.of,
                     *reason.by == SettingSource::operator_file ? "the operator" : "Lockstep",
                     reason.set_for);
}

std::string cause_text(const RanksAvoidRdma& reason) {
  const std::string& of = reason.of;
  const std::string where = reason.in_container ? " in the job's image" : " on this node";
  switch (reason.cause) {
    case SocketsCause::unknown:
      if (!of.empty()) return of;
      return "the reason is not known; NCCL_DEBUG=INFO, or UCX_LOG_LEVEL=info, says more";
    case SocketsCause::disabled: return disabled_text(reason);
    case SocketsCause::no_device_files:
      return reason.in_container
                 ? "/dev/infiniband has no device that its container may open; see "
                   "`lockstep environment log` for what the engine gives"
                 : "/dev/infiniband has no device; load the kernel module ib_uverbs (rdma-core)";
    case SocketsCause::no_verbs_library:
      return "libibverbs.so.1 cannot be opened; install it" + where +
             " (Debian: libibverbs1, ibverbs-providers)";
    case SocketsCause::no_device:
      return of.empty() ? "the library found no RDMA device that it can use; does libibverbs" +
                              where + " have the device's driver (ibverbs-providers)?"
                        : "no active port matches " + of + "; leave it out";
    case SocketsCause::locked_memory:
      return fmt::format(
          "memory cannot be locked{}; raise the limit: LimitMEMLOCK=infinity for the service of "
          "{}",
          of.empty() ? "" : " (" + of + ")",
          reason.in_container ? "the container engine" : "the agent");
    case SocketsCause::wrong_gid:
      return "the GID is not one of the other side's network (" + of +
             "); leave NCCL_IB_GID_INDEX out, or choose one of `lockstep node show --fabric`";
    case SocketsCause::wrong_pkey:
      return "the partition is not one of the port's (" + of +
             "); leave NCCL_IB_PKEY and UCX_IB_PKEY out";
    case SocketsCause::no_answer:
      return "packets of one port do not reach the other (" + of +
             "): the GID index, the partition or the switch";
    case SocketsCause::no_plugin:
      return "the network plugin " + of + " of NCCL_NET_PLUGIN is not there";
    case SocketsCause::not_opened: return "the ranks opened no RDMA device";
  }
  return of;
}

}  // namespace

std::string say(const RdmaIsLacking& reason) {
  const std::string& of = reason.of;
  switch (reason.lack) {
    case RdmaLack::no_port: return "this node has no RDMA device";
    case RdmaLack::no_active_port: return "this node has no active RDMA port (" + of + ")";
    case RdmaLack::no_partition:
      return "this node's RDMA port (" + of +
             ") is a full member of no partition (pkey), so other nodes cannot reach it";
    case RdmaLack::no_gid:
      return "this node's RDMA port (" + of +
             ") has no GID of an IP address (RoCE v2): give its network interface one, and set it "
             "up";
    case RdmaLack::no_device_files:
      return "this node has an RDMA port, but no /dev/infiniband/uverbs*: load the kernel module "
             "ib_uverbs (rdma-core does)";
    case RdmaLack::locked_memory:
      return fmt::format(
          "ranks of this node can lock only {} of memory: set LimitMEMLOCK=infinity for the "
          "agent's service, or memlock in /etc/security/limits.conf, and start the agent again",
          to_string(reason.lockable));
    case RdmaLack::wrong_gid:
      return of +
             " of the job is not the index of a GID of an active RDMA port here; leave it out, or "
             "choose one of `lockstep node show --fabric`";
    case RdmaLack::wrong_pkey:
      return of +
             " of the job is not a partition of an active RDMA port here; leave it out, or choose "
             "one of `lockstep node show --fabric`";
  }
  return of;
}

std::string say(const RanksAvoidRdma& reason) {
  return fmt::format("{}{}{}{}: {}",
                     reason.has_failed ? "RDMA failed" : "its ranks talk over TCP, not RDMA",
                     reason.library.empty() ? "" : " (", reason.library,
                     reason.library.empty() ? "" : ")", cause_text(reason));
}

std::string say(const RdmaIsNotUsed& reason) {
  return fmt::format("RDMA is {}, but {}{}", to_string(reason.wanted), text_of(reason.why),
                     reason.uses_tcp ? "; its ranks use TCP" : "");
}

std::string say(const ContainerLacksRdma& reason) {
  return fmt::format(
      "the ranks' container has no RDMA device: the agent's user may not open "
      "/dev/infiniband/uverbs*, so "
      "the rootless engine {} cannot pass them",
      reason.engine);
}

std::string say(const ContainerLocksLittle& reason) {
  return fmt::format(
      "the ranks' container can lock only a limited amount of memory, and RDMA may need more: set "
      "LimitMEMLOCK=infinity for {}, then restart {}",
      reason.is_rootless ? "the services of the agent's user, who runs " + reason.engine
                         : "the service of " + reason.engine,
      reason.is_rootless ? "lockstep-agent" : "it and lockstep-agent");
}

}  // namespace lockstep::words
