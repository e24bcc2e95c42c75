#include "envs/venv/wheelhouse.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/base/digest.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::envs {
namespace {

// The last part of an address, without a query or fragment.
std::string file_name_of(const std::string& url) {
  const std::string path = url.substr(0, url.find_first_of("#?"));
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Result<Digest> digest_of_file(const std::string& path) {
  TRY_ASSIGN(const io::Fd file, io::open_file(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  Sha256 sum;
  std::string buffer(1 << 18, '\0');
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return make_error(ErrorCode::io, fmt::format("reading {}: {}", path, std::strerror(errno)));
    if (got == 0) return sum.finish();
    sum.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

Result<std::vector<std::string>> Wheelhouse::folders_of(
    const std::vector<LockedPackage>& packages) const {
  std::vector<std::string> folders;
  for (const LockedPackage& package : packages) {
    const auto here =
        std::find_if(package.sha256.begin(), package.sha256.end(), [&](const auto& hash) {
          const auto names = io::list_directory(fmt::format("{}/{}", folder_, hash));
          return names && !names->empty();
        });
    if (here == package.sha256.end())
      return make_error(ErrorCode::not_found,
                        fmt::format("{} ({})", package.name, file_name_of(package.url)));
    folders.push_back(fmt::format("{}/{}", folder_, *here));
  }
  return folders;
}

Status Wheelhouse::take_in(const std::string& folder) const {
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(folder));
  for (const std::string& name : names) {
    const std::string file = fmt::format("{}/{}", folder, name);
    TRY_ASSIGN(const Digest digest, digest_of_file(file));
    const std::string home = fmt::format("{}/{}", folder_, digest.hex());
    TRY(io::make_directories(home));
    if (io::disk::rename(file.c_str(), fmt::format("{}/{}", home, name).c_str()) != 0)
      return make_error(ErrorCode::io,
                        fmt::format("keeping {} in {}: {}", name, home, std::strerror(errno)));
  }
  return {};
}

}  // namespace lockstep::envs
