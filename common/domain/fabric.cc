#include "common/domain/fabric.h"

namespace lockstep {

std::string_view to_string(PathTrouble trouble) {
  switch (trouble) {
    case PathTrouble::no_route: return "no route";
    case PathTrouble::refused: return "refused";
    case PathTrouble::timed_out: return "timed out";
    case PathTrouble::large_packets_lost: return "large packets lost";
  }
  return "timed out";
}

std::string_view to_string(SettingSource source) {
  switch (source) {
    case SettingSource::user: return "user";
    case SettingSource::operator_file: return "operator";
    case SettingSource::probe: return "probe";
    case SettingSource::fixed: return "fixed";
  }
  return "probe";
}

}  // namespace lockstep
