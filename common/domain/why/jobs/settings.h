#pragma once
// Why the network settings of a rank are missing.

#include <string_view>

#include "common/base/fields.h"
#include "common/domain/why/list.h"

namespace lockstep {

struct SettingsOfPipeline {
  static constexpr std::string_view kCode = "settings_of_pipeline";
  LOCKSTEP_FIELDS(SettingsOfPipeline);
};

struct SettingsOfNoRank {
  static constexpr std::string_view kCode = "settings_of_no_rank";
  int ranks = 0;  // the number of the job's ranks
  LOCKSTEP_FIELDS(SettingsOfNoRank, ranks);
};

struct SettingsBeforePlacement {
  static constexpr std::string_view kCode = "settings_before_placement";
  LOCKSTEP_FIELDS(SettingsBeforePlacement);
};

struct SettingsBeforeStart {
  static constexpr std::string_view kCode = "settings_before_start";
  LOCKSTEP_FIELDS(SettingsBeforeStart);
};

struct NoSettingsOnOneNode {  // The job sets none of the variables, either.
  static constexpr std::string_view kCode = "no_settings_on_one_node";
  LOCKSTEP_FIELDS(NoSettingsOnOneNode);
};

struct NoSettingsReported {
  static constexpr std::string_view kCode = "no_settings_reported";
  LOCKSTEP_FIELDS(NoSettingsReported);
};

using SettingReasons = List<SettingsOfPipeline, SettingsOfNoRank, SettingsBeforePlacement,
                            SettingsBeforeStart, NoSettingsOnOneNode, NoSettingsReported>;

}  // namespace lockstep
