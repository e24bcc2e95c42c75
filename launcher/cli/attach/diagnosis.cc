#include "launcher/cli/attach/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/text/found_lines.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/words/found/say_path.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostNodes = 32;  // the most nodes whose network the text shows

const AttemptView& attempt_of(const Diagnosis& diagnosis) { return diagnosis.job.attempts.back(); }

std::string found_part(const Diagnosis& diagnosis) {
  std::string text = "found\n";
  for (const FoundText& found : found_texts(diagnosis.job))
    text += fmt::format("  {}: {}\n", found.label, in_lines(found.text, 4));
  if (!attempt_of(diagnosis).found.empty()) return text;
  const Duration after = diagnosis.job.spec.hang.after;
  if (after == Duration::zero())
    return text + "  nothing is looked for (lockstep.hang_after: off)\n";
  if (diagnosis.job.status != JobStatus::running) return text + "  nothing\n";
  return text + fmt::format(
                    "  nothing; a rank that others wait for is named after {} "
                    "(lockstep.hang_after)\n",
                    format_duration(after));
}

std::string speed_text(const ChosenPath& path) {
  std::string text;
  if (path.speed_mbps >= 0)
    text += fmt::format(", {:.1f} Gbit/s", static_cast<double>(path.speed_mbps) / 1000.0);
  if (path.round_trip > Duration::zero())
    text += fmt::format(", round trip {:.3f} ms",
                        std::chrono::duration<double, std::milli>(path.round_trip).count());
  if (path.mtu > 0) text += fmt::format(", MTU {}", path.mtu);
  return text;
}

std::string network_part(const Diagnosis& diagnosis) {
  const AttemptView& attempt = attempt_of(diagnosis);
  const words::About names = api::names_in(diagnosis.job.spec.name, attempt);
  std::string text;
  if (attempt.probe) {
    const auto& chosen = attempt.probe->chosen;
    const std::size_t shown = std::min(chosen.size(), kMostNodes);
    for (std::size_t i = 0; i < shown; ++i)
      text += fmt::format("  {}: {} {}{}\n", words::node_name(names, chosen[i].node_rank),
                          in_one_line(chosen[i].interface), in_one_line(chosen[i].address),
                          speed_text(chosen[i]));
    if (shown > 0 && attempt.parts.size() > shown)
      text += fmt::format("  and {} more nodes\n", attempt.parts.size() - shown);
    for (const PathFailure& failure : attempt.probe->failures) {
      const words::Said said = words::say(failure, names);
      text += fmt::format("  {}\n    {}\n", said.what, said.remedy);
    }
  }
  if (attempt.parts.empty()) return text.empty() ? "" : "\nnetwork\n" + text;
  for (const NetworkSetting& setting : attempt.parts.front().settings) {
    text += fmt::format("  {}={}  ({})\n", in_one_line(setting.name), in_one_line(setting.value),
                        in_one_line(setting.reason));
    if (!setting.warning.empty()) text += fmt::format("    {}\n", in_one_line(setting.warning));
  }
  return text.empty() ? "" : "\nnetwork\n" + text;
}

std::string clocks_part(const Diagnosis& diagnosis) {
  std::string text;
  for (const NodeClock& clock : diagnosis.clocks)
    if (std::chrono::abs(clock.offset.ahead) > kNotableOffset + clock.offset.uncertainty)
      text += fmt::format("  {}: {}\n", in_one_line(clock.node_name), in_words(clock.offset));
  if (text.empty() && !diagnosis.clocks.empty())
    text = "  the nodes' clocks agree with the launcher's\n";
  return text.empty() ? "" : "\nclocks\n" + text;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text = fmt::format("job {}, attempt {}: {} at {}\n\n", diagnosis.job.spec.name,
                                 attempt_of(diagnosis).number, to_string(diagnosis.job.status),
                                 to_string(diagnosis.at));
  text += found_part(diagnosis);
  if (!diagnosis.standings.empty()) text += "\nranks\n" + standings_table(diagnosis.standings);
  text += network_part(diagnosis) + clocks_part(diagnosis);
  text += "\nstacks\n";
  text += diagnosis.no_stacks.empty()
              ? stacks_text(diagnosis.stacks)
              : fmt::format("  none: {}\n", in_one_line(diagnosis.no_stacks));
  return printable(text);
}

struct SettingsOfPart {
  const PartView* part = &api::none_of<PartView>();
};
void keys(const SettingsOfPart& of, api::See& see) {
  see("node_name", of.part->node_name, "The node.");
  see("settings", of.part->settings, "Those of its first rank, as in a job's part.");
}

void keys(const Diagnosis& diagnosis, api::See& see) {
  const bool has_attempt = !diagnosis.job.attempts.empty();
  const AttemptView& attempt = has_attempt ? attempt_of(diagnosis) : api::none_of<AttemptView>();
  const words::About names = api::names_in(diagnosis.job.spec.name, attempt);
  std::optional<api::Of<ProbeResult>> probe;
  if (attempt.probe) probe = {&*attempt.probe, &names};
  std::vector<SettingsOfPart> settings;
  for (const PartView& part : attempt.parts) settings.push_back({&part});
  const bool has_stacks = diagnosis.no_stacks.empty();
  see.page("diagnosis", "Diagnosis",
           "All that is known of a job's ranks at one moment: `lockstep job diagnose`.");
  see("job", diagnosis.job.spec.name, "The job.");
  see("attempt", attempt.number, "The number of its attempt.");
  see("status", diagnosis.job.status, "Azure ML's word for its state.");
  see("at", api::SetTime{diagnosis.at}, "When.");
  see("found", api::each_of(attempt.found, names), "What the gang found out about its ranks.");
  see("ranks", diagnosis.standings,
      "Where each rank stands, as its node saw it last; empty: its runners do not watch them.");
  see("probe", probe, "What the probe of its nodes found; null: there was none.");
  see("settings", settings, "Variables of the network, of the first rank of each node.");
  see("clocks", diagnosis.clocks, "The clocks of its nodes that were measured.");
  see("stacks", has_stacks ? std::optional(diagnosis.stacks) : std::nullopt,
      "The stacks of its ranks; null: there are none.");
  see("no_stacks", api::unless_empty(diagnosis.no_stacks),
      "Why there are no stacks; null: there are.");
}

std::string diagnosis_file(Instant at) {
  std::string name = "diagnosis-";
  for (const char c : to_string(at))  // a time such as 2026-01-31T12:00:00.000Z
    if (c != '-' && c != ':') name += c;
  return name.substr(0, name.find('.')) + "Z";
}

}  // namespace lockstep::cli
