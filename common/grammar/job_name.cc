#include "common/grammar/job_name.h"

#include <cctype>

namespace lockstep {

Status validate_job_name(const std::string& name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !name.empty() && name.size() <= kMaxJobNameBytes && word(name[0]);
  for (char c : name) good = good && (word(c) || c == '_' || c == '-');
  if (good) return {};
  return make_error(ErrorCode::invalid_argument,
                    "name: '" + name +
                        "' is not a job name: 1 to 240 letters, digits, '_' or '-', " +
                        "starting with a letter or a digit");
}

}  // namespace lockstep
