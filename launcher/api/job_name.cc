#include "launcher/api/job_name.h"

#include <array>
#include <string_view>

namespace lockstep::launcher {

namespace {

constexpr std::array<std::string_view, 16> kColours = {
    "gray", "blue",  "green", "amber", "coral", "ivory", "olive", "plum",
    "teal", "jolly", "calm",  "brave", "witty", "quiet", "sunny", "dusty"};
constexpr std::array<std::string_view, 16> kThings = {
    "pig",  "fox", "owl",  "seal", "crane", "heron", "otter", "lynx",
    "wren", "yak", "toad", "kiwi", "moth",  "robin", "camel", "bison"};

}  // namespace

std::string generated_job_name(std::uint64_t random) {
  std::string name(kColours[random % kColours.size()]);
  random /= kColours.size();
  name += '_';
  name += kThings[random % kThings.size()];
  random /= kThings.size();
  name += '_';
  for (int i = 0; i < 10; ++i, random /= 26) name += static_cast<char>('a' + random % 26);
  return name;
}

}  // namespace lockstep::launcher
