#include "tests/bench/fleet/submitter.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>

#include "launcher/cli/link/connection.h"
#include "launcher/cli/link/endpoint.h"
#include "launcher/cli/local/home.h"
#include "launcher/cli/local/processes.h"

namespace lockstep::fleet {

namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as the fleet's lines

constexpr Duration kLookEvery = milliseconds(20);

double since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Submitter {
 public:
  Submitter(const SubmitOptions& options, cli::Connection& connection)
      : options_(options), connection_(connection) {}

  Status run() {
    TRY(connection_.ask_for<StatusReply>(GetStatus{}).map([](const StatusReply&) {}));
    const auto begun = Clock::now();
    TRY(connection_.listen(
        {[this](const Envelope<ClientReply>& envelope) { take(envelope); }, {}, {}, {}}));
    while (answered_ < options_.jobs && !refused_) {
      while (sent_ < options_.jobs && sent_ - answered_ < options_.window) send();
      connection_.loop().turn(seconds(1));
    }
    if (refused_) return *refused_;
    const double accepted = since(begun);
    if (options_.wait) TRY(wait());
    fmt::print(
        "{{\"begun_ns\": {}, \"jobs\": {}, \"accepted_s\": {:.3f}, \"final_s\": {:.3f}, "
        "\"client_cpu_s\": {:.3f}}}\n",
        std::chrono::nanoseconds(begun.time_since_epoch()).count(), options_.jobs, accepted,
        since(begun), cpu_seconds());
    return {};
  }

 private:
  void send() {
    Submit request;
    JobSpec& spec = request.spec;
    spec.name = fmt::format("{}_{}", options_.prefix, ++sent_);
    request.submission = spec.name;
    spec.command = Argv{{"true"}};
    spec.resources.instance_count = options_.nodes;
    if (options_.cpus > 0) spec.resources.cpus = options_.cpus;
    connection_.send(std::move(request));
  }

  void take(const Envelope<ClientReply>& envelope) {
    if (const auto* refused = std::get_if<Refused>(&envelope.body))
      refused_ = make_error(refused->code, refused->message);
    if (std::holds_alternative<SubmitReply>(envelope.body)) ++answered_;
    const auto* update = std::get_if<JobUpdate>(&envelope.body);
    const auto* reply = std::get_if<JobReply>(&envelope.body);
    if (update && is_final(update->job.status)) last_is_final_ = true;
    if (reply && is_final(reply->job.status)) last_is_final_ = true;
  }

  // The last one ends about last; only then the launcher is asked for all.
  Status wait() {
    connection_.send(WatchJob{JobId(fmt::format("{}_{}", options_.prefix, options_.jobs))});
    while (!last_is_final_) connection_.loop().turn(seconds(1));
    for (;;) {
      TRY_ASSIGN(const auto reply, connection_.ask_for<StatusReply>(GetStatus{}));
      int completed = 0, others = 0;
      for (const auto& [status, count] : reply.status.jobs)
        (status == "Completed" ? completed : others) += count;
      if (others == 0) return {};
      connection_.loop().turn(kLookEvery);
    }
  }

  const SubmitOptions& options_;
  cli::Connection& connection_;
  int sent_ = 0, answered_ = 0;
  bool last_is_final_ = false;
  std::optional<Error> refused_;
};

}  // namespace

Status submit(const SubmitOptions& options) {
  TRY_ASSIGN(const auto endpoint, cli::read_endpoint(options.endpoint));
  TRY_ASSIGN(const auto keys, cli::user_keys(cli::LocalHome(options.home)));
  TRY_ASSIGN(const auto connection, cli::Connection::open(endpoint, keys));
  return Submitter(options, *connection).run();
}

}  // namespace lockstep::fleet
