#include "launcher/words/jobs/say_settings.h"

#include <fmt/format.h>

namespace lockstep::words {

std::string say(const SettingsOfPipeline&) {
  return "a pipeline has no ranks: ask for the job of a step";
}

std::string say(const SettingsOfNoRank& reason) {
  return reason.ranks == 1 ? "the job has rank 0 only"
                           : fmt::format("the job has ranks 0 to {}", reason.ranks - 1);
}

std::string say(const SettingsBeforePlacement&) {
  return "it has not been placed: settings are made where ranks start";
}

std::string say(const SettingsBeforeStart&) {
  return "its ranks have not started: settings are made then";
}

std::string say(const NoSettingsOnOneNode&) {
  return "its ranks are on one node, and it sets none itself";
}

std::string say(const NoSettingsReported&) { return "its node reported none"; }

}  // namespace lockstep::words
