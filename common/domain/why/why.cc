#include "common/domain/why/why.h"

#include <utility>

#include "common/domain/why/reason.h"

namespace lockstep {

Why::Why(Reason reason) : reason_(std::make_shared<const Reason>(std::move(reason))) {}

bool operator==(const Why& a, const Why& b) {
  if (a.reason_ == b.reason_) return true;
  return a.reason_ && b.reason_ && *a.reason_ == *b.reason_;
}

Why told(std::string text) { return text.empty() ? Why() : Why(Told{std::move(text)}); }

}  // namespace lockstep
