#include "common/domain/targets/fabric.h"

#include <algorithm>
#include <array>

namespace lockstep {

bool is_network_variable(std::string_view name) {
  constexpr std::array<std::string_view, 19> kPrefixes = {
      "NCCL_",    "UCX_",       "UCC_",   "GLOO_",  "TP_",    "OMPI_MCA_", "PMIX_MCA_",
      "FI_",      "I_MPI_",     "MPICH_", "HCOLL_", "SHARP_", "RDMAV_",    "PRTE_MCA_",
      "NVSHMEM_", "MPIR_CVAR_", "MLX5_",  "MV2_",   "PSM2_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Word describe(PathTrouble trouble) {
  switch (trouble) {
    case PathTrouble::no_route: return {1, "no route"};
    case PathTrouble::refused: return {2, "refused"};
    case PathTrouble::timed_out: return {3, "timed out"};
    case PathTrouble::large_packets_lost: return {4, "large packets lost"};
  }
  return {};
}
std::string_view to_string(PathTrouble trouble) { return describe(trouble).word; }

Word describe(SettingSource source) {
  switch (source) {
    case SettingSource::user: return {1, "user"};
    case SettingSource::operator_file: return {2, "operator"};
    case SettingSource::probe: return {3, "probe"};
    case SettingSource::fixed: return {4, "fixed"};
  }
  return {};
}
std::string_view to_string(SettingSource source) { return describe(source).word; }

}  // namespace lockstep
