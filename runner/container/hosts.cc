#include "runner/container/hosts.h"

#include <fcntl.h>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr char kLoopbackAlone[] = "127.0.0.1 localhost\n::1 localhost\n";

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

std::string hosts_text(const std::string& own, const GangTable& gang) {
  std::string text;
  for (const GangMember& member : gang.members)
    if (!member.hostname.empty() && !member.address.empty() && !is_loopback(member.address))
      text += member.address + " " + member.hostname + "\n";
  return text + own;
}

Status write_hosts(const std::string& path, const GangTable& gang) {
  const std::string own = io::read_file("/etc/hosts").value_or(kLoopbackAlone);
  TRY_ASSIGN(const io::Fd file,
             io::open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC));
  return io::write_all(file.get(), hosts_text(own, gang));
}

}  // namespace lockstep::runner
