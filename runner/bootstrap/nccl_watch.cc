#include "runner/bootstrap/nccl_watch.h"

#include <fmt/format.h>

#include "common/domain/data/outputs.h"
#include "runner/bootstrap/gang_context.h"
#include "runner/bootstrap/rank_variables.h"

namespace lockstep::runner {
namespace {

constexpr char kRasAddress[] = "NCCL_RAS_ADDR";
constexpr char kRecordedCollectives[] = "2000";

// Sets a variable under both names. Newer versions of torch read the first name, older ones only
// the second. A job that sets one of them means both.
void set_under_both_names(const GangContext& gang, const char* newer, const char* older,
                          const std::string& value, Variables* out) {
  const auto& user = gang.assignment.spec.environment_variables;
  if (user.count(newer) > 0 || user.count(older) > 0) return;
  out->set(newer, value);
  out->set(older, value);
}

}  // namespace

std::optional<std::string> ras_address(const GangContext& gang) {
  const auto& user = gang.assignment.spec.environment_variables;
  if (const auto off = user.find("NCCL_RAS_ENABLE"); off != user.end() && off->second == "0")
    return std::nullopt;
  if (const auto own = user.find(kRasAddress); own != user.end()) return own->second;
  if (gang.ras_port == 0) return std::nullopt;
  return fmt::format("127.0.0.1:{}", gang.ras_port);
}

void set_nccl_watch(const GangContext& gang, Variables* out) {
  if (gang.assignment.allotment.gpus.empty()) return;
  if (const auto address = ras_address(gang)) out->set(kRasAddress, *address);
  out->set("NCCL_SET_THREAD_NAME", "1");
  set_under_both_names(gang, "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE",
                       kRecordedCollectives, out);
  if (gang.nccl_dumps.empty()) return;
  out->set("TORCH_NCCL_DUMP_ON_TIMEOUT", "1");
  set_under_both_names(gang, "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                       gang.nccl_dumps, out);
}

std::string nccl_dumps_below(const std::string& directory) {
  return fmt::format("{}/{}/nccl_trace_rank_", directory, kLogsFolder);
}

}  // namespace lockstep::runner
