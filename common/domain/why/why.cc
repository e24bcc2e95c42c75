#include "common/domain/why/why.h"

#include <utility>

namespace lockstep {

bool operator==(const Why& a, const Why& b) {
  if (a.reason_ == b.reason_) return true;
  return a.reason_ && b.reason_ && a.reason_->equals(*b.reason_);
}

Why told(std::string text) { return text.empty() ? Why() : Why(Told{std::move(text)}); }

}  // namespace lockstep
