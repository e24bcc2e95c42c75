#include "launcher/cli/attach/short_attachments.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <set>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "launcher/cli/attach/new_id.h"
#include "launcher/cli/attach/streams.h"

namespace lockstep::cli {

namespace {

// How long messages may take to leave this process.
constexpr Duration kForTheCloses = milliseconds(5);

class Calls {
 public:
  Calls(Connection& connection, std::vector<AttachOpen> openings, Duration within,
        std::string input)
      : connection_(connection),
        openings_(std::move(openings)),
        within_(within),
        input_(std::move(input)),
        answers_(openings_.size()) {}
  ~Calls() { connection_.stop_listening(); }

  Result<std::vector<AttachAnswer>> run() {
    Connection::Listener listener;
    listener.on_bulk = [this](const BulkEnvelope& envelope) { on_bulk(envelope); };
    listener.on_bulk_up = [this] {
      for (Call& call : calls_) call.streams.on_link_up(clock_.now());
      progress();
    };
    TRY(connection_.listen(std::move(listener)));
    progress();
    while (!calls_.empty()) {
      connection_.loop().turn(std::max(Duration{}, next_deadline() - clock_.now()));
      progress();
    }
    connection_.loop().turn(kForTheCloses);
    return std::move(answers_);
  }

 private:
  struct Call {
    Call(std::size_t i, AttachOpen open, Instant now, Duration within)
        : index(i), streams(std::move(open), now), end(now + within) {}
    std::size_t index;
    AttachId id = new_attach_id();
    AttachStreams streams;
    Instant end;
    std::set<std::uint64_t> numbers = {};  // numbers of the messages that open it
    std::size_t fed = 0;                   // bytes of the input that were sent
    bool is_fed = false;                   // whether the input's end was sent
    bool is_over = false;
  };

  void on_bulk(const BulkEnvelope& envelope) {
    const auto* frame = std::get_if<AttachFrame>(&envelope.body);
    const auto* refused = std::get_if<BulkRefused>(&envelope.body);
    const Instant now = clock_.now();
    for (Call& call : calls_) {
      if (frame != nullptr && frame->attachment == call.id) call.streams.on_frame(frame->body, now);
      if (refused != nullptr && call.numbers.contains(envelope.reply_to))
        call.streams.on_frame(AttachRefused{refused->message, refused->for_now}, now);
    }
  }

  // Called after each event: continues each call, and starts the next ones.
  void progress() {
    const Instant now = clock_.now();
    while (calls_.size() < kMostCallsAtOnce && next_ < openings_.size()) {
      calls_.emplace_back(next_, std::move(openings_[next_]), now, within_);
      ++next_;
    }
    for (Call& call : calls_) {
      call.streams.tick(now);
      give_input(call, now);
      take_output(call, now);
      look_for_end(call, now);
      send(call);
    }
    calls_.remove_if([](const Call& call) { return call.is_over; });
    if (calls_.empty() && next_ < openings_.size()) progress();
  }

  void give_input(Call& call, Instant now) {
    if (input_.empty() || call.is_fed || !call.streams.opened()) return;
    const std::size_t bytes = std::min(call.streams.room(), input_.size() - call.fed);
    if (bytes > 0) call.streams.feed(std::string_view(input_).substr(call.fed, bytes), now);
    call.fed += bytes;
    if (call.fed < input_.size()) return;
    call.streams.end_input(now);
    call.is_fed = true;
  }

  void take_output(Call& call, Instant now) {
    for (const AttachStream stream : {AttachStream::output, AttachStream::error}) {
      const std::string_view bytes = call.streams.waiting(stream);
      if (bytes.empty()) continue;
      std::string& output = answers_[call.index].output;
      if (stream == AttachStream::output && output.size() < kMaxAnswerBytes) output += bytes;
      call.streams.written(stream, bytes.size(), now);
    }
  }

  void look_for_end(Call& call, Instant now) {
    AttachAnswer& answer = answers_[call.index];
    if (call.streams.opened()) answer.opened = *call.streams.opened();
    if (const AttachEnd* end = call.streams.ended()) {
      answer.end = *end;
    } else if (call.streams.refused()) {
      answer.error = call.streams.refused();
    } else if (now >= call.end) {
      answer.error = make_error(ErrorCode::deadline_exceeded,
                                "the node has not answered within " + format_duration(within_));
    } else {
      return;
    }
    call.is_over = true;
    call.streams.close();
  }

  void send(Call& call) {
    for (AttachBody& body : call.streams.take_frames()) {
      const bool opens = std::holds_alternative<AttachOpen>(body);
      BulkEnvelope envelope;
      envelope.body = AttachFrame{call.id, std::move(body)};
      const std::uint64_t number = connection_.send_bulk(std::move(envelope));
      if (opens) call.numbers.insert(number);
    }
  }

  Instant next_deadline() const {
    Instant next = Instant::never();
    for (const Call& call : calls_) next = std::min({next, call.end, call.streams.next_deadline()});
    return next;
  }

  Connection& connection_;
  std::vector<AttachOpen> openings_;
  const Duration within_;
  const std::string input_;
  std::vector<AttachAnswer> answers_;
  std::size_t next_ = 0;
  std::list<Call> calls_;
  io::SystemClock clock_;
};

}  // namespace

std::vector<AttachOpen> openings_for(const JobView& job, const std::vector<NodeRanks>& nodes,
                                     bool one_rank, const AttachOrder& order) {
  std::vector<AttachOpen> openings;
  for (const NodeRanks& node : nodes) {
    AttachOpen open;
    open.job = JobId(job.spec.name);
    if (one_rank) open.rank = node.ranks.front();
    open.node_rank = one_rank ? -1 : node.node_rank;
    open.order = order;
    openings.push_back(std::move(open));
  }
  return openings;
}

Result<std::vector<AttachAnswer>> call_all(Connection& connection, std::vector<AttachOpen> openings,
                                           Duration within, std::string input) {
  return Calls(connection, std::move(openings), within, std::move(input)).run();
}

}  // namespace lockstep::cli
