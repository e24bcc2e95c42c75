#pragma once
// A machine of a text file (machines/*.txt): its trees of /sys, /proc and /dev in a folder, its
// links, and its GPUs. The texts were written by hand from public facts: vendors' documents, the
// topology files of Azure's images, outputs that people published. A line is one of
//
//   device PATH [numa=N] [driver=D]       below /sys/devices, such as pci0000:00/0000:00:01.0
//   net NAME [device=PATH] [mtu=N] [speed=N] [kind=K] [master=NAME] [below=NAME] [addr=A/P]…
//       [up] [loopback] [default] [hidden]    hidden: /sys does not show it
//   rdma NAME [device=PATH] [port=N] [state=S] [layer=L] [rate=N] [lid=N] [fw=V] [net=NAME]
//       [tc=N] [gid=INDEX,GID,TYPE[,NETDEV]]… [pkey=PLACE,VALUE]…      (TYPE: v1, v2, ib)
//   gpu INDEX device=PATH [nvlink=I,…] [p2p=I,…] [mig]
//   numa N DISTANCE…
//   file PATH TEXT                        TEXT: the rest of the line; \n: another line
//   memlock BYTES                         else unlimited
//   # a comment

#include <string>
#include <vector>

#include "agent/inventory/fabric.h"
#include "agent/inventory/links.h"
#include "common/domain/targets/fabric.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::test {

class Machine {
 public:
  // `name`: of the file in machines/, without ".txt".
  explicit Machine(const std::string& name);

  const agent::FabricPlaces& places() const { return places_; }
  const std::vector<agent::NetworkLink>& links() const { return links_; }
  // As the agent finds it.
  NodeFabric fabric() const;

 private:
  struct Line;
  void take(const Line& line);
  void add_device(const Line& line);
  void add_net(const Line& line);
  void add_rdma(const Line& line);
  void add_gpu(const Line& line);
  void put(const std::string& path, const std::string& text) const;
  void point(const std::string& path, const std::string& target) const;
  std::string device_folder(const std::string& path) const;
  int index_of(const std::string& link) const;

  TempDir root_;
  agent::FabricPlaces places_;
  std::vector<agent::NetworkLink> links_;
  std::vector<FabricGpu> gpus_;  // without what /sys says
  std::vector<GpuDevice> devices_;
  std::int64_t memlock_ = -1;
};

std::string read_text(const std::string& path);

}  // namespace lockstep::test
