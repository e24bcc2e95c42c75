#pragma once
// Why the network settings of a rank are missing.

#include <string_view>

#include "common/domain/why/list.h"

namespace lockstep {

struct SettingsOfPipeline {
  static constexpr std::string_view kCode = "settings_of_pipeline";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const SettingsOfPipeline&, const SettingsOfPipeline&) = default;
};

struct SettingsOfNoRank {
  static constexpr std::string_view kCode = "settings_of_no_rank";
  int ranks = 0;  // of the job
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("ranks", self.ranks);
  }
  friend bool operator==(const SettingsOfNoRank&, const SettingsOfNoRank&) = default;
};

struct SettingsBeforePlacement {
  static constexpr std::string_view kCode = "settings_before_placement";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const SettingsBeforePlacement&, const SettingsBeforePlacement&) = default;
};

struct SettingsBeforeStart {
  static constexpr std::string_view kCode = "settings_before_start";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const SettingsBeforeStart&, const SettingsBeforeStart&) = default;
};

struct NoSettingsOnOneNode {  // and the job sets none itself
  static constexpr std::string_view kCode = "no_settings_on_one_node";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoSettingsOnOneNode&, const NoSettingsOnOneNode&) = default;
};

struct NoSettingsReported {
  static constexpr std::string_view kCode = "no_settings_reported";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoSettingsReported&, const NoSettingsReported&) = default;
};

using SettingReasons = List<SettingsOfPipeline, SettingsOfNoRank, SettingsBeforePlacement,
                            SettingsBeforeStart, NoSettingsOnOneNode, NoSettingsReported>;

}  // namespace lockstep
