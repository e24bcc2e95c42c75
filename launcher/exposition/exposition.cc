#include "launcher/exposition/exposition.h"

#include "launcher/exposition/families.h"

namespace lockstep::launcher {

std::string exposition_of(const ClusterNumbers& numbers, ExpositionFormat format,
                          ExpositionLimits limits) {
  ExpositionWriter writer(format, limits);
  for (const auto& families : {families_of_launcher(), families_of_jobs(), families_of_nodes()})
    for (const ExposedFamily& one : families) {
      writer.begin(one.family);
      one.write(numbers, writer);
    }
  // It is beyond the limits, or nobody would see that they were reached.
  const std::map<std::string, std::size_t> left_out = writer.left_out();
  writer.begin_unlimited(left_out_family());
  for (const auto& [family, count] : left_out) writer.add({family}, std::uint64_t{count});
  return writer.finish();
}

}  // namespace lockstep::launcher
