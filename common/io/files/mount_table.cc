#include "common/io/files/mount_table.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace lockstep::io {

std::string unescape_mount(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0')));
    i += 3;
  }
  return plain;
}

std::vector<Mount> mounts_in(const std::string& mountinfo) {
  constexpr std::string_view kDash = " - ";  // the mark after the optional fields
  std::vector<Mount> found;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    Mount mount;
    std::string skip, point;
    std::istringstream fields(line);
    if (!(fields >> mount.id >> skip >> mount.device >> skip >> point)) continue;
    mount.point = unescape_mount(point);
    const auto dash = line.find(kDash);
    if (dash == std::string::npos) continue;
    std::istringstream(line.substr(dash + kDash.size())) >> mount.type >> skip >> mount.options;
    found.push_back(std::move(mount));
  }
  return found;
}

std::optional<std::uint64_t> mount_id_in(const std::string& fdinfo) {
  constexpr std::string_view kLead = "mnt_id:";
  const auto at = fdinfo.find(kLead);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(fdinfo.c_str() + at + kLead.size(), nullptr, 10);
}

}  // namespace lockstep::io
