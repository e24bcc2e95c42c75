#include "common/domain/data/output_name.h"

#include <cctype>

namespace lockstep {

bool valid_output_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxOutputNameBytes) return false;
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  return true;
}

}  // namespace lockstep
