#include "common/domain/why/jobs/explain.h"

namespace lockstep {

std::string_view to_string(NotReused cause) {
  switch (cause) {
    case NotReused::as_asked: return "as_asked";
    case NotReused::no_outputs: return "no_outputs";
    case NotReused::no_key: return "no_key";
  }
  return "?";
}

}  // namespace lockstep
