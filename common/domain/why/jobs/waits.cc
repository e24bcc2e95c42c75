#include "common/domain/why/jobs/waits.h"

namespace lockstep {

std::string_view to_string(GoesFirst how) {
  switch (how) {
    case GoesFirst::ends_before: return "ends_before";
    case GoesFirst::fits_beside: return "fits_beside";
    case GoesFirst::own_user: return "own_user";
    case GoesFirst::nodes_are_open: return "nodes_are_open";
  }
  return "?";
}

}  // namespace lockstep
