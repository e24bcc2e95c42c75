#include "common/domain/why/ranks/rdma.h"

namespace lockstep {

std::string_view to_string(RdmaLack lack) {
  switch (lack) {
    case RdmaLack::no_port: return "no_port";
    case RdmaLack::no_active_port: return "no_active_port";
    case RdmaLack::no_partition: return "no_partition";
    case RdmaLack::no_gid: return "no_gid";
    case RdmaLack::no_device_files: return "no_device_files";
    case RdmaLack::locked_memory: return "locked_memory";
    case RdmaLack::wrong_gid: return "wrong_gid";
    case RdmaLack::wrong_pkey: return "wrong_pkey";
  }
  return "no_port";
}

std::string_view to_string(SocketsCause cause) {
  switch (cause) {
    case SocketsCause::unknown: return "unknown";
    case SocketsCause::disabled: return "disabled";
    case SocketsCause::no_device_files: return "no_device_files";
    case SocketsCause::no_verbs_library: return "no_verbs_library";
    case SocketsCause::no_device: return "no_device";
    case SocketsCause::locked_memory: return "locked_memory";
    case SocketsCause::wrong_gid: return "wrong_gid";
    case SocketsCause::wrong_pkey: return "wrong_pkey";
    case SocketsCause::no_answer: return "no_answer";
    case SocketsCause::no_plugin: return "no_plugin";
    case SocketsCause::not_opened: return "not_opened";
  }
  return "unknown";
}

}  // namespace lockstep
