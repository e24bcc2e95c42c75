#include "launcher/cli/transfer/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <map>
#include <optional>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/transfer/refused.h"

namespace lockstep::cli {

namespace {

constexpr std::uint32_t kLogCredit = 64;
constexpr Duration kAskAgainAfter = seconds(5);
constexpr Duration kGiveUpAfter = seconds(30);

std::string name_of(const LogKey& key) {
  if (key.stream == LogStream::environment) return fmt::format("environment_{}.txt", key.rank);
  return fmt::format("std_{}_process_{}.txt", key.stream == LogStream::out ? "log" : "err",
                     key.rank);
}

class LogReceiver {
 public:
  LogReceiver(Connection& connection, AttemptId attempt, const std::string& folder)
      : connection_(connection), attempt_(std::move(attempt)), folder_(folder) {}

  Status run();
  std::vector<LogFile> files() const;

 private:
  void ask();
  void on_bulk(const BulkEnvelope& envelope);
  Status take(const LogChunk& chunk);

  Connection& connection_;
  const AttemptId attempt_;
  const std::string& folder_;
  io::SystemClock clock_;
  std::map<LogKey, std::uint64_t> written_;
  std::uint32_t taken_ = 0;
  Instant heard_;
  bool ended_ = false;
  Status failure_;
};

// Asks for the logs. The request may be sent again: bytes that have arrived are not sent twice.
void LogReceiver::ask() {
  LogFollow follow;
  follow.job = attempt_.job;
  follow.attempt = attempt_.number;
  follow.follow = false;
  follow.credit = kLogCredit;
  for (const auto& [key, offset] : written_) follow.resume.push_back({key, offset});
  taken_ = 0;
  BulkEnvelope envelope;
  envelope.body = std::move(follow);
  connection_.send_bulk(std::move(envelope));
}

void LogReceiver::on_bulk(const BulkEnvelope& envelope) {
  if (const auto* refused = std::get_if<BulkRefused>(&envelope.body)) {
    // A refusal that may pass counts as silence: the log is requested again, and given up if
    // nothing else comes.
    if (refused->for_now) return;
    failure_ = transfer::error_of(*refused);
  }
  heard_ = clock_.now();
  if (std::holds_alternative<LogEnd>(envelope.body)) ended_ = true;
  const auto* chunk = std::get_if<LogChunk>(&envelope.body);
  if (chunk == nullptr || chunk->key.attempt != attempt_ || !failure_) return;
  failure_ = take(*chunk);
  if (++taken_ < kLogCredit / 2) return;
  BulkEnvelope credit;
  credit.body = LogCredit{taken_};
  taken_ = 0;
  connection_.send_bulk(std::move(credit));
}

Status LogReceiver::take(const LogChunk& chunk) {
  std::uint64_t& at = written_[chunk.key];
  if (chunk.offset > at) {  // bytes were lost on the way
    ask();
    return {};
  }
  const std::uint64_t known = at - chunk.offset;
  if (known >= chunk.data.size()) return {};
  const std::string path = folder_ + "/" + name_of(chunk.key);
  TRY_ASSIGN(const io::Fd file, io::open_file(path, O_WRONLY | O_CREAT | O_APPEND));
  const Status written = io::write_all(file.get(), std::string_view(chunk.data).substr(known));
  if (!written) return written.error().within("cannot write " + path);
  at = chunk.offset + chunk.data.size();
  return {};
}

Status LogReceiver::run() {
  Connection::Listener listener;
  listener.on_bulk = [this](const BulkEnvelope& envelope) { on_bulk(envelope); };
  listener.on_bulk_up = [this] { ask(); };
  TRY(connection_.listen(std::move(listener)));
  const Instant begun = heard_ = clock_.now();
  Instant asked = begun;
  ask();
  while (!ended_ && failure_) {
    const Instant now = clock_.now();
    if (now - heard_ > kGiveUpAfter) {
      failure_ = make_error(ErrorCode::unavailable,
                            "the launcher sent no logs for " + format_duration(kGiveUpAfter));
    } else if (now - std::max(asked, heard_) > kAskAgainAfter) {
      asked = now;
      ask();
    }
    connection_.loop().turn(seconds(1));
  }
  connection_.stop_listening();
  return failure_;
}

std::vector<LogFile> LogReceiver::files() const {
  std::vector<LogFile> files;
  for (const auto& [key, bytes] : written_)
    if (bytes > 0) files.push_back({name_of(key), bytes});
  return files;
}

}  // namespace

Result<std::vector<LogFile>> download_logs(Connection& connection, const JobId& job,
                                           std::uint32_t attempt, const std::string& folder) {
  LogReceiver receiver(connection, {job, attempt}, folder);
  TRY(receiver.run());
  return receiver.files();
}

}  // namespace lockstep::cli
