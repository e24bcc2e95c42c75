// Whatever ranks, their tools and their NCCL say to the watch over them: texts that are kept are
// printable and short. The first byte chooses who speaks.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/base/printable.h"
#include "runner/watch/proc/descriptor.h"
#include "runner/watch/proc/proc_texts.h"
#include "runner/watch/ras/ras_report.h"
#include "runner/watch/sockets/tcp_sockets.h"
#include "runner/watch/stack_top.h"

namespace {

using namespace lockstep;
using namespace lockstep::runner;

void expect_shown(const std::string& text, std::size_t most) {
  if (text.size() > most || text.find_first_of("\x1b\n\r") != text.npos) std::abort();
}

void look_at_report(const Result<RasReport>& report) {
  if (!report) return;
  std::vector<RasProcess> job;
  for (int rank = 0; rank < 3; ++rank) job.push_back({rank, rank + 1, {"10.0.0.4"}});
  for (const RasCommunicator& communicator : report->communicators) {
    expect_shown(communicator.hash, kMaxRasTextBytes + 3);
    for (const RasRank& rank : communicator.ranks) expect_shown(rank.host, kMaxRasTextBytes + 3);
  }
  for (const auto& [rank, counts] : counts_by_rank(*report, job))
    if (rank < 0 || rank > 2 || counts.size() > kMaxCollectiveCounts) std::abort();
  for (const int rank : unanswering_ranks(*report, job))
    if (rank < 0 || rank > 2) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view said(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0: look_at_report(parse_ras_json(said)); break;
    case 1: look_at_report(parse_ras_text(said)); break;
    case 2:
      if (const auto top = parse_stack_line(said)) {
        expect_shown(top->at, kMaxStandingTextBytes);
        expect_shown(top->within, kMaxStandingTextBytes);
      }
      break;
    case 3:
      if (const auto socket = parse_tcp_diag(said)) (void)to_string(socket->far);
      break;
    case 4: {
      TcpSockets sockets;
      parse_proc_net_tcp(said, 100, &sockets);
      if (sockets.size() > 100) std::abort();
      break;
    }
    default:
      expect_shown(parse_descriptor(said).text, kMaxStandingTextBytes);
      (void)parse_thread_stat(said);
      (void)parse_blocked_call(said);
      expect_shown(parse_wait_channel(said), 64);
      (void)parse_call_bytes(said);
      if (parse_epoll_targets(said, 8).size() > 8) std::abort();
  }
  return 0;
}
