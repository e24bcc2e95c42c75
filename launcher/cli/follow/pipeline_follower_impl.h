#pragma once
// The parts of a PipelineFollower.

#include "launcher/cli/follow/pipeline_follower.h"

#include <map>
#include <set>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "launcher/cli/follow/step_lines.h"
#include "launcher/cli/follow/step_logs.h"
#include "launcher/cli/link/listening.h"
#include "launcher/cli/text/found_lines.h"

namespace lockstep::cli {

// How logs are requested. Logs of the past come in the order of time; lines that are written
// meanwhile come step by step, live.
StepLogs::Ask how_to_ask(const FollowOptions& options);

struct PipelineFollower::Impl {
  static constexpr Duration kTick = seconds(1);
  // The chunks of one turn: a step that writes much does not keep the others waiting.
  static constexpr std::uint32_t kChunksOfTurn = 64;
  // few, since the lines of all steps that ran at a time are held
  static constexpr std::uint32_t kChunksInOrder = 16;

  Impl(Connection& c, Terminal& t, Follower::FindEndpoint f, FollowOptions o)
      : connection(c),
        terminal(t),
        find_endpoint(std::move(f)),
        options(std::move(o)),
        merge(looks(), [this](LogStream stream, std::string_view bytes) { write(stream, bytes); }),
        order(from_start(), [this](const LogChunk& piece) { merge.add(piece, clock.now()); }),
        lines(options.cancel_on_interrupt),
        logs(how_to_ask(options), options.reused_logs) {}

  // The logs of one step, as they are asked for now.
  struct Turn {
    JobId job;
    std::uint64_t sequence = 0;
    std::uint32_t chunks = 0;
    bool any = false;
    Duration heard{};  // the listening time
  };

  MergeOptions looks();
  std::uint32_t chunks_of_turn() const { return logs.in_order() ? kChunksInOrder : kChunksOfTurn; }
  bool from_start() const { return options.filter.tail_lines < 0 && !options.filter.since; }
  MergeOptions::Name name_of(const LogChunk& chunk) const;
  void write(LogStream stream, std::string_view bytes);
  Status listen();
  FollowEnd end(FollowEnd::How how);
  void ask();
  void ask_steps(Instant now);
  void ask_logs(const JobId& step);
  void ask_next(Instant now);
  void end_turn(const StepLogs::Answer& answer);
  void go_on_if_past_is_read();
  void tick(Instant now);
  void reconnect();
  void on_control(const Envelope<ClientReply>& envelope);
  void on_refused(const Refused& refused, std::uint64_t reply_to);
  void on_bulk(const BulkEnvelope& envelope);
  void on_launcher(Instant started);
  void on_job(const JobView& view);
  void on_step(const JobView& view);
  void expect_lines();
  void on_chunk(const LogChunk& chunk);
  void on_logs_refused(const BulkRefused& refused);
  void on_interrupt();
  void ask_to_cancel();
  void leave_in_vain();
  void say_lines();
  void show_live(Instant now);
  bool finished();
  Instant next_deadline() const;

  Connection& connection;
  Terminal& terminal;
  Follower::FindEndpoint find_endpoint;
  FollowOptions options;
  io::SystemClock clock;
  LogMerge merge;
  LogOrder order;
  StepLines lines;
  StepLogs logs;
  bool output_open = true;

  std::optional<JobView> job;
  std::map<JobId, std::size_t> step_of;  // the step of each job, in the pipeline's order
  std::size_t name_width = 0;
  std::vector<StepLine> held;         // lines that follow the logs of their steps
  std::set<JobId> begun;              // steps whose logs were asked for and came once
  std::set<JobId> ending;             // among the read steps, those whose lines are not all shown
  std::set<std::string> told;         // reused steps that were reported
  std::map<JobId, FoundLines> found;  // by the job of a step
  std::optional<Turn> turn;
  std::optional<Error> failure;
  bool is_over = false;  // the pipeline is final
  bool in_vain = false;
  int interrupts = 0;
  bool hung_up = false;
  FollowEnd::Cancel cancel = FollowEnd::Cancel::not_asked;
  std::uint64_t cancel_sequence = 0;

  Listening listening{clock.now(), kTick};
  WatchLease lease{options.watch};
  Duration progressed{};  // in listening time: when the pipeline ended, or logs came after that
  Instant next_tick, next_ask, next_ask_steps;
  std::optional<Instant> launcher_started;  // another value: another launcher process
  bool lost_said = false;
  Instant live_due = Instant::never();  // when the redrawn lines are due
  Instant live_drawn;
};

}  // namespace lockstep::cli
