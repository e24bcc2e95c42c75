#include "agent/daemon/links/moved_file.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "common/io/disk.h"

namespace lockstep::agent {
namespace {

constexpr Bytes kMostOfToken = kibibytes(64);

}  // namespace

MovedFile::MovedFile(std::string path, PublicKey launcher, Kind kind)
    : path_(std::move(path)), launcher_(std::move(launcher)), kind_(kind) {
  if (kind_ == Kind::token) seen_ = version();
}

std::optional<MovedFile::Version> MovedFile::version() const {
  struct stat info {};
  if (path_.empty() || ::stat(path_.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  return Version{info.st_ino, info.st_size, info.st_mtim};
}

std::optional<LauncherAddress> MovedFile::look() {
  const auto now = version();
  if (!now || now == seen_) return std::nullopt;
  seen_ = now;
  const auto token = read_token_file(path_);
  if (kind_ == Kind::message) (void)io::disk::unlink(path_.c_str());
  if (!token) {
    spdlog::warn("{} does not say where the launcher is: {}", path_, token.error().message);
    return std::nullopt;
  }
  if (token->launcher_key != launcher_) {
    spdlog::warn("ignoring {}: it is of another launcher than the one that this node belongs to",
                 path_);
    return std::nullopt;
  }
  return LauncherAddress{token->control_endpoint, token->bulk_endpoint};
}

Result<wire::JoinToken> read_token_file(const std::string& path) {
  TRY_ASSIGN(const std::string text, io::read_file(path, kMostOfToken));
  return wire::decode_join_token(text);
}

wire::JoinToken token_for(const PublicKey& launcher, const LauncherAddress& address) {
  return {launcher, address.control, address.control, address.bulk, "none", Instant{}};
}

}  // namespace lockstep::agent
