#include "common/domain/why/ranks/notes.h"

namespace lockstep {

std::string_view to_string(CoreTaker taker) {
  switch (taker) {
    case CoreTaker::nobody: return "nobody";
    case CoreTaker::program: return "program";
    case CoreTaker::socket: return "socket";
  }
  return "nobody";
}

}  // namespace lockstep
