#include "common/io/version_file.h"

#include <charconv>

#include "common/io/file_system.h"

namespace lockstep::io {

Result<int> read_version(const std::string& path) {
  const auto text = read_file(path, kibibytes(1));
  if (!text && text.error().code == ErrorCode::not_found) return 1;
  if (!text) return text.error();
  int version = 0;
  const auto end = text->find('\n');
  const char* last = text->data() + (end == std::string::npos ? text->size() : end);
  const auto read = std::from_chars(text->data(), last, version);
  if (read.ec != std::errc() || read.ptr != last || version < 1)
    return make_error(ErrorCode::corrupt,
                      path + ": does not hold a version (a whole number from 1 on)");
  return version;
}

Status write_version(const std::string& path, int version) {
  return write_file_atomically(path, std::to_string(version) + "\n", 0600);
}

Status expect_version(const std::string& path, int ours, const std::string& what) {
  TRY_ASSIGN(const int version, read_version(path));
  if (version <= ours) return {};
  return make_error(ErrorCode::unsupported,
                    path + ": this " + what + " was written by a newer Lockstep (version " +
                        std::to_string(version) +
                        "; this program, " LOCKSTEP_VERSION ", reads up to " +
                        std::to_string(ours) + "); start the newer program");
}

Status record_version(const std::string& path, int ours) {
  TRY_ASSIGN(const int version, read_version(path));
  if (version == ours && exists(path)) return {};
  return write_version(path, ours);
}

}  // namespace lockstep::io
