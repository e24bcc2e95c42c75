#include "launcher/store/least_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "common/base/digest.h"
#include "common/io/disk.h"
#include "common/io/durable_copy.h"

namespace lockstep::launcher {

namespace {

constexpr off_t kWalHeaders = 32 + 24;  // of the file and of a first page: less holds nothing
constexpr std::size_t kDigits = 20, kCheckDigits = 16;

// Always of the same length: it is overwritten, and a part of it may be a former one's.
std::string text_of(std::uint64_t facts) {
  const std::string number = fmt::format("{:0{}}", facts, kDigits);
  return fmt::format("{} {}\n", number, sha256(number).hex().substr(0, kCheckDigits));
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t facts = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), facts);
  return read.ec == std::errc() && text == text_of(facts) ? facts : 1;
}

off_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::uint64_t facts_ever(const JournalBase& base, std::uint64_t rows) {
  return base.facts + rows < base.kept ? 0 : base.facts + rows - base.kept;
}

JournalPosition position_of(const JournalBase& base, std::uint64_t rows, const Digest& chain) {
  return {base.generation, base.facts, facts_ever(base, rows), chain};
}

std::string least_facts_file(const std::string& path) { return path + ".least"; }

Result<JournalTraces> look_for_traces(const std::string& path) {
  JournalTraces traces;
  traces.file = size_of(path) > 0;
  traces.wal = size_of(path + "-wal") >= kWalHeaders;
  const auto text = io::read_file(least_facts_file(path), kibibytes(1));
  if (!text && text.error().code != ErrorCode::not_found) return text.error();
  if (text) traces.least = number_in(*text);
  if (traces.wal && !traces.file) return lost_journal(path, traces, path + "-wal");
  return traces;
}

Status expect_facts(const std::string& path, const JournalTraces& traces, const JournalBase& base,
                    std::uint64_t rows) {
  const std::uint64_t facts = facts_ever(base, rows);
  if (traces.wal || facts >= traces.least.value_or(0)) return {};
  return make_error(
      ErrorCode::corrupt,
      fmt::format("journal {0}: has {1} facts, but {2} says that at least {3} were written: "
                  "{0}-wal with the other facts is missing or empty, or {0} is an older copy. Put "
                  "the right files back, or restore a backup (`lockstepd restore`); to continue "
                  "without the missing facts: `lockstepd fsck --truncate-journal-at {4}`",
                  path, facts, least_facts_file(path), *traces.least, rows + 1));
}

Error lost_journal(const std::string& path, const JournalTraces& traces, const std::string& sign) {
  const std::string what =
      !traces.file ? "is missing"
      : !traces.wal
          ? fmt::format("is empty, and {}-wal, which may have held its rows, is missing", path)
          : "is empty";
  return make_error(
      ErrorCode::corrupt,
      fmt::format("journal {0}: {1}, but {2} shows that a launcher has already used {3}: no new "
                  "journal is created there, and nothing is removed. Put the journal back; or move "
                  "{3} away, and then restore a backup (`lockstepd restore BACKUP --home {3}`) or "
                  "start an empty launcher without the old jobs",
                  path, what, sign, folder_of(path)));
}

Status forget_least_facts(const std::string& path) {
  if (io::disk::unlink(least_facts_file(path).c_str()) != 0 && errno != ENOENT)
    return errno_error(errno, "cannot remove " + least_facts_file(path));
  return io::sync_directory(folder_of(path));
}

Status LeastFacts::begin(const std::string& text) {
  TRY_ASSIGN(io::Fd file, io::open_file(path_, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  TRY(io::write_all(file.get(), text));
  if (io::disk::fsync(file.get()) != 0) return errno_error(errno, "cannot sync " + path_);
  TRY(io::sync_directory(folder_of(path_)));
  file_ = std::move(file);
  return {};
}

void LeastFacts::record(std::uint64_t facts) {
  const std::string text = text_of(facts);
  if (!file_) return (void)begin(text);
  if (io::disk::pwrite(file_.get(), text.data(), text.size(), 0) !=
      static_cast<ssize_t>(text.size()))
    file_.reset();
}

}  // namespace lockstep::launcher
