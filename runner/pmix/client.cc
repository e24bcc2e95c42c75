#include "runner/pmix/client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include "common/base/printable.h"

namespace lockstep::pmix {
namespace {

constexpr char kWho[] = "the PMIx server of this node's ranks (lockstep-pmix)";

// Whether all variables are PMIx's: only these are passed to ranks.
bool are_pmix_variables(const Variables& variables) {
  return std::all_of(variables.begin(), variables.end(), [](const auto& each) {
    const auto& [name, value] = each;
    return name.starts_with("PMIX_") && value.find('\0') == value.npos &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  });
}

}  // namespace

Result<std::unique_ptr<Client>> Client::launch(io::EventLoop& loop, const std::string& path,
                                               std::uint32_t uid, std::uint32_t gid) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error(errno, "socketpair for lockstep-pmix");
  io::Fd ours(ends[0]), theirs(ends[1]);
  TRY_ASSIGN(Process process, Process::start(path, uid, gid, std::move(theirs)));
  return std::make_unique<Client>(loop, std::move(ours), std::move(process));
}

Client::Client(io::EventLoop& loop, io::Fd socket, Process process)
    : loop_(loop),
      process_(std::move(process)),
      socket_(std::make_unique<io::FramedSocket>(
          loop, std::move(socket), kMaxReportBytes,
          [this](const std::string& frame) { receive(frame); }, [this] { lose(""); })) {
  if (process_.errors() >= 0)
    loop_.watch(process_.errors(), io::EventLoop::Interest::read, [this] { read_errors(); });
}

Client::~Client() { stop_reading_errors(); }

// ---- orders

void Client::start(const Job& job, const std::string& directory, Events events, Started started) {
  job_ = job;
  events_ = std::move(events);
  const std::uint64_t id = begin("start the PMIx server in " + directory,
                                 [started = std::move(started)](const Result<Variables>& done) {
                                   started(done ? Status() : Status(done.error()));
                                 });
  send(Start{id, directory, job});
}

void Client::register_rank(int rank, std::uint32_t uid, std::uint32_t gid, Registered registered) {
  const std::uint64_t id = begin(fmt::format("register rank {}", rank), std::move(registered));
  send(RegisterRank{id, rank, uid, gid});
}

void Client::fetch(int rank, Reply reply) {
  if (!socket_) return reply(false, "");
  fetches_[++last_id_] = std::move(reply);
  send(Fetch{last_id_, rank});
}

// Returns 0 if the server is lost; then `done` has been called.
std::uint64_t Client::begin(std::string what, std::function<void(Result<Variables>)> done) {
  if (!socket_) {
    done(make_error(ErrorCode::unavailable, why_lost_));
    return 0;
  }
  operations_[++last_id_] = {clock_.now() + kOperationTimeout, std::move(what), std::move(done)};
  return last_id_;
}

void Client::send(const Order& order) {
  if (socket_) socket_->send(encode(order));
}

Instant Client::next_deadline() const {
  return operations_.empty() ? Instant::never() : operations_.begin()->second.until;
}

void Client::expire(Instant now) {
  while (!operations_.empty() && now >= operations_.begin()->second.until) {
    const auto late = operations_.extract(operations_.begin());
    late.mapped().done(make_error(
        ErrorCode::unavailable, fmt::format("{}: PMIx did not answer within {}", late.mapped().what,
                                            format_duration(kOperationTimeout))));
  }
}

// ---- reports

void Client::receive(const std::string& frame) {
  auto report = decode_report(frame);
  if (!report) return lose(report.error().message);
  if (library_.empty() != std::holds_alternative<Hello>(*report))
    return lose("its reports are out of order");
  std::visit([this](auto& each) { on(each); }, *report);
}

void Client::on(Hello& report) {
  if (report.protocol != kProtocol)
    return lose(
        fmt::format("it speaks version {} of the protocol, and this runner version {}; "
                    "restart the agent, so that both are of one installation",
                    report.protocol, kProtocol));
  library_ = report.library.empty() ? "unknown" : in_one_line(report.library);
}

// Handles the end of an operation; nobody waits for one that has expired.
void Client::on(Done& report) {
  if (report.id == 0 || report.id > last_id_)
    return lose("it answers a question that was not asked");
  const auto operation = operations_.extract(report.id);
  if (!operation) return;
  if (!report.error.empty())
    return operation.mapped().done(make_error(ErrorCode::internal, in_one_line(report.error)));
  if (are_pmix_variables(report.variables))
    return operation.mapped().done(std::move(report.variables));
  lose("its variables are not PMIx's");
  operation.mapped().done(make_error(ErrorCode::unavailable, why_lost_));
}

void Client::on(Fetched& report) {
  const auto fetch = fetches_.extract(report.id);
  if (!fetch) return lose("it answers a question that was not asked");
  fetch.mapped()(report.found, report.data);
}

bool Client::is_here(int rank) const {
  const int first = job_.node_rank * job_.ranks_per_node;
  return rank >= first && rank < first + job_.ranks_per_node;
}

bool Client::is_in_job(int rank) const {
  return rank >= 0 && rank < static_cast<int>(job_.nodes.size()) * job_.ranks_per_node;
}

void Client::on(Connected& report) {
  if (is_here(report.rank)) events_.connected(report.rank);
}

void Client::on(Finalized& report) {
  if (is_here(report.rank)) events_.finalized(report.rank);
}

void Client::on(Aborted& report) {
  if (is_here(report.rank)) events_.aborted(report.rank, report.code, std::move(report.message));
}

void Client::on(Refused& report) {
  if (is_here(report.rank)) events_.refused(report.rank, in_one_line(report.what));
}

std::optional<Client::Reply> Client::open_call(std::uint64_t id, std::size_t bytes) {
  if (open_calls_.size() >= kMaxOpenCalls || open_bytes_ + bytes > kMaxOpenBytes ||
      !open_calls_.emplace(id, bytes).second) {
    lose("too many calls of the ranks are not answered");
    return std::nullopt;
  }
  open_bytes_ += bytes;
  return [this, id](bool found, const std::string& data) {
    const auto call = open_calls_.extract(id);
    if (!call) return;
    open_bytes_ -= call.mapped();
    send(Answer{id, found, data});
  };
}

void Client::on(Fence& report) {
  const auto reply = open_call(report.id, report.data.size());
  if (!reply) return;
  const std::set<int>& ranks = report.ranks;
  const bool is_known =
      std::all_of(ranks.begin(), ranks.end(), [&](int r) { return is_in_job(r); });
  const bool is_ours = std::any_of(ranks.begin(), ranks.end(), [&](int r) { return is_here(r); });
  if (job_.ranks_per_node == 0 || (!report.whole_job && !(is_known && is_ours)))
    return (*reply)(false, "");
  events_.fence(std::move(report.ranks), report.whole_job, std::move(report.data), *reply);
}

void Client::on(Modex& report) {
  const auto reply = open_call(report.id, 0);
  if (!reply) return;
  if (!is_in_job(report.rank)) return (*reply)(false, "");
  events_.modex(report.rank, *reply);
}

void Client::on(TurnedAway& report) {
  note(fmt::format("turned away a process that is not the ranks' ({} by now): {}", report.count,
                   report.why));
}

// ---- its words, and its end

void Client::read_errors() {
  std::array<char, 4096> buffer;
  const ssize_t length = ::read(process_.errors(), buffer.data(), buffer.size());
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) return stop_reading_errors();
  errors_.append(buffer.data(), static_cast<std::size_t>(length));
  for (std::size_t end = 0; (end = errors_.find('\n')) != errors_.npos;) {
    note(errors_.substr(0, end));
    errors_.erase(0, end + 1);
  }
  if (errors_.size() < buffer.size()) return;
  note(errors_);
  errors_.clear();
}

void Client::stop_reading_errors() {
  if (process_.errors() < 0 || !is_reading_errors_) return;
  is_reading_errors_ = false;
  loop_.unwatch(process_.errors(), io::EventLoop::Interest::read);
}

void Client::note(const std::string& line) {
  if (++lines_ > kMaxLines) return;
  last_line_ = in_one_line(line.substr(0, kMaxText));
  spdlog::warn("lockstep-pmix: {}", last_line_);
}

void Client::lose(std::string why) {
  if (!socket_) return;
  socket_.reset();
  const std::string how = process_.end();
  if (is_reading_errors_) read_errors();
  stop_reading_errors();
  why_lost_ = fmt::format("{} {}{}", kWho, why.empty() ? how : "was ended: " + why,
                          last_line_.empty() ? "" : ": " + last_line_);
  for (auto& [id, operation] : std::exchange(operations_, {}))
    operation.done(make_error(ErrorCode::unavailable, why_lost_));
  for (auto& [id, reply] : std::exchange(fetches_, {})) reply(false, "");
  open_calls_.clear();
  open_bytes_ = 0;
  if (events_.lost) events_.lost(why_lost_);
}

}  // namespace lockstep::pmix
