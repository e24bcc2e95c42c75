#pragma once
// GoogleTest shows a reason by its code and its sentence.

#include <ostream>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/why.h"
#include "launcher/words/why.h"

namespace lockstep {

inline void PrintTo(const Why& why, std::ostream* out) {
  *out << to_data(why).code << ": " << words::text_of(why);
}

}  // namespace lockstep
