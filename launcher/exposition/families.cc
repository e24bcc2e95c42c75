#include "launcher/exposition/families.h"

namespace lockstep::launcher {

const MetricFamily& left_out_family() {
  static const MetricFamily kFamily{
      "lockstep_exposition_left_out",
      MetricType::gauge,
      "",
      {"family"},
      "Series that this answer leaves out because of a limit or of equal labels; none if it is not "
      "there"};
  return kFamily;
}

std::vector<const MetricFamily*> all_families() {
  std::vector<const MetricFamily*> all;
  for (const auto& families : {families_of_launcher(), families_of_jobs(), families_of_nodes()})
    for (const ExposedFamily& one : families) all.push_back(&one.family);
  all.push_back(&left_out_family());
  return all;
}

}  // namespace lockstep::launcher
