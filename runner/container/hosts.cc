#include "runner/container/hosts.h"

#include <fcntl.h>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr char kLoopbackAlone[] = "127.0.0.1 localhost\n::1 localhost\n";

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// "name:address" or "name=address". `host-gateway` means the host, whose network the container
// shares, so its address is 127.0.0.1.
std::string line_of(const std::string& added) {
  const auto separator = added.find_first_of(":=");
  if (separator == added.npos) return "";
  std::string address = added.substr(separator + 1);
  if (address == "host-gateway") address = "127.0.0.1";
  if (address.size() > 2 && address.front() == '[') address = address.substr(1, address.size() - 2);
  return address + " " + added.substr(0, separator) + "\n";
}

}  // namespace

std::string hosts_text(const std::string& own, const GangTable& gang,
                       const std::vector<std::string>& added) {
  std::string text;
  for (const std::string& each : added) text += line_of(each);
  for (const GangMember& member : gang.members)
    if (!member.hostname.empty() && !member.address.empty() && !is_loopback(member.address))
      text += member.address + " " + member.hostname + "\n";
  return text + own;
}

Status write_hosts(const std::string& path, const GangTable& gang,
                   const std::vector<std::string>& added) {
  const std::string own = io::read_file("/etc/hosts").value_or(kLoopbackAlone);
  TRY_ASSIGN(const io::Fd file,
             io::open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC));
  return io::write_all(file.get(), hosts_text(own, gang, added));
}

}  // namespace lockstep::runner
