#include "launcher/words/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::words {

// In the words of the runner that ends a start for it.
Said say(const PathFailure& failure, const About& about) {
  PathFailure printable = failure;
  for (std::string* each :
       {&printable.from_address, &printable.from_interface, &printable.to_address})
    *each = shown(*each);
  PathFailureWords text =
      path_failure_words(printable, node_name(about, failure.from), node_name(about, failure.to));
  return {std::move(text.what), std::move(text.remedy)};
}

std::vector<PathFailure> broken_paths(const ProbeResult& probe) {
  const auto count =
      std::min(static_cast<std::size_t>(std::max(probe.broken, 0)), probe.failures.size());
  return {probe.failures.begin(), probe.failures.begin() + static_cast<std::ptrdiff_t>(count)};
}

Said say_all(const std::vector<PathFailure>& failures, const About& about) {
  Said said = say(failures.front(), about);
  if (failures.size() > 1)
    said.what +=
        fmt::format("; and {} more path{} of the gang {}", failures.size() - 1,
                    failures.size() == 2 ? "" : "s", failures.size() == 2 ? "fails" : "fail");
  return said;
}

}  // namespace lockstep::words
