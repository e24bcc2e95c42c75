#include "runner/gang/neighbour.h"

#include "common/base/check.h"

namespace lockstep::runner {

Standing after_frame(Standing standing) {
  switch (standing) {
    case Standing::expected: return Standing::present;
    case Standing::present:
    case Standing::informed:
    case Standing::leaving:
    case Standing::refused:
    case Standing::lost:
    case Standing::left:
    case Standing::expelled: return standing;
  }
  CHECK(false, "a standing outside its enumeration");
}

Standing after_bye(Standing standing) {
  switch (standing) {
    case Standing::expected:
    case Standing::present:
    case Standing::informed: return Standing::leaving;
    case Standing::lost: return Standing::left;
    case Standing::leaving:
    case Standing::left:
    case Standing::refused:
    case Standing::expelled: return standing;
  }
  CHECK(false, "a standing outside its enumeration");
}

Standing after_answer(Standing standing) {
  switch (standing) {
    case Standing::expected:
    case Standing::present: return Standing::informed;
    case Standing::informed:
    case Standing::leaving:
    case Standing::refused:
    case Standing::lost:
    case Standing::left:
    case Standing::expelled: return standing;
  }
  CHECK(false, "a standing outside its enumeration");
}

Standing after_refusal(Standing standing) {
  switch (standing) {
    case Standing::expected:
    case Standing::present:
    case Standing::informed:
    case Standing::leaving:
    case Standing::refused: return Standing::refused;
    case Standing::lost:
    case Standing::left:
    case Standing::expelled: return Standing::expelled;
  }
  CHECK(false, "a standing outside its enumeration");
}

Standing after_silence(Standing standing) {
  switch (standing) {
    case Standing::expected:
    case Standing::present:
    case Standing::informed:
    case Standing::lost: return Standing::lost;
    case Standing::leaving:
    case Standing::left: return Standing::left;
    case Standing::refused:
    case Standing::expelled: return Standing::expelled;
  }
  CHECK(false, "a standing outside its enumeration");
}

bool is_listened_to(Standing standing) {
  return standing != Standing::refused && standing != Standing::expelled;
}

bool is_reported_lost(Standing standing) { return after_silence(standing) == standing; }

bool needs_us(Standing standing) {
  switch (standing) {
    case Standing::present:
    case Standing::informed:
    case Standing::lost: return true;
    case Standing::expected:
    case Standing::leaving:
    case Standing::refused:
    case Standing::left:
    case Standing::expelled: return false;
  }
  CHECK(false, "a standing outside its enumeration");
}

}  // namespace lockstep::runner
