#pragma once
// The parts of a Follower.

#include "launcher/cli/follow/follower.h"

#include <set>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "launcher/cli/follow/state_lines.h"
#include "launcher/cli/link/listening.h"
#include "launcher/cli/text/found_lines.h"

namespace lockstep::cli {

struct Follower::Impl {
  static constexpr Duration kTick = seconds(1);
  static constexpr std::uint32_t kCredit = 64;

  Impl(Connection& c, Terminal& t, FindEndpoint f, FollowOptions o)
      : connection(c),
        terminal(t),
        find_endpoint(std::move(f)),
        options(std::move(o)),
        merge(merge_options(t, options, clock.now()),
              [this](LogStream stream, std::string_view bytes) {
                output_open = write_log(terminal, options, stream, bytes) && output_open;
              }),
        order(options.filter.tail_lines < 0 && !options.filter.since,
              [this](const LogChunk& piece) { merge.add(piece, clock.now()); }) {}

  Status listen();
  FollowEnd end(FollowEnd::How how);
  void subscribe();
  void follow_logs();
  void ask();
  void tick(Instant now);
  void reconnect();
  bool must_resume_logs() const;
  void on_control(const Envelope<ClientReply>& envelope);
  void on_bulk(const BulkEnvelope& envelope);
  void tell_bulk_trouble(Instant now);
  void on_still_watching(const StillWatching& still);
  void on_launcher(Instant started);
  void on_job(const JobView& view);
  void say_notes();
  void say_found();
  void on_chunk(const LogChunk& chunk);
  void on_signal(int signal);
  void on_interrupt();
  void ask_to_cancel();
  void await_answer(Instant until);
  void show_state(Instant now);
  void tell_of_lost();
  void leave_in_vain();
  void show_live(Instant now);
  bool finished();
  bool beside_goes_on() const;
  FollowEnd left_end(FollowEnd::How how, Instant now);
  Instant next_deadline() const;

  Connection& connection;
  Terminal& terminal;
  FindEndpoint find_endpoint;
  FollowOptions options;
  io::SystemClock clock;
  LogMerge merge;
  LogOrder order;
  bool output_open = true;

  std::optional<JobView> job;
  StateLines lines;
  FoundLines found;
  // the output folders of which nothing can be kept and that were reported
  std::set<std::string> told;
  std::optional<Error> failure;
  bool logs_refused = false;  // the logs were refused for now, and are requested again
  bool has_logs = false;
  std::optional<std::string> log_end;  // the status word of LogEnd
  bool is_over = false;                // the job is final
  bool in_vain = false;
  int interrupts = 0;
  bool hung_up = false;
  FollowEnd::Cancel cancel = FollowEnd::Cancel::not_asked;
  std::uint64_t cancel_sequence = 0;

  Listening listening{clock.now(), kTick};
  WatchLease lease{options.watch};
  Duration logged_at{};  // listening time of this and the next two; also when logs were requested
  Duration heard_at{};   // the time of the last chunk
  Duration ended_at{};
  Instant next_tick;
  std::uint32_t taken = 0;                  // chunks since credit was given back
  std::uint32_t burst = 0;                  // chunks since the logs were asked for
  std::optional<Instant> launcher_started;  // another value: another launcher process
  bool lost_said = false;
  std::set<std::string> said_notes;
  bool is_control_down = false;
  // since when the logs' port is unreachable while the launcher is there
  std::optional<Instant> without_bulk_since;
  bool is_bulk_told = false;
  Instant live_due = Instant::never();  // when the redrawn lines are due
  Instant live_drawn;
};

}  // namespace lockstep::cli
