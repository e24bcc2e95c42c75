#include "common/domain/targets/finding.h"

#include <algorithm>

#include "common/base/printable.h"

namespace lockstep {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::warning: return "warning";
    case Verdict::problem: return "problem";
  }
  return "?";
}

std::optional<Verdict> verdict_from(std::string_view word) {
  for (const Verdict verdict : {Verdict::ok, Verdict::warning, Verdict::problem})
    if (to_string(verdict) == word) return verdict;
  return std::nullopt;
}

bool all_well(const Findings& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& each) { return each.verdict == Verdict::problem; });
}

std::string findings_text(const Findings& findings) {
  std::size_t widest = 0;
  for (const Finding& each : findings) widest = std::max(widest, each.check.size());
  std::string text, area;
  int warnings = 0, problems = 0;
  for (const Finding& each : findings) {
    if (each.area != area) text += (text.empty() ? "" : "\n") + in_one_line(each.area) + "\n";
    area = each.area;
    std::string verdict(to_string(each.verdict));
    verdict.resize(std::string_view("problem").size(), ' ');
    const std::string margin = "  " + verdict + "  ";
    const std::size_t indent = margin.size() + widest + 2;
    text += margin + in_one_line(each.check) + std::string(widest - each.check.size() + 2, ' ') +
            in_lines(each.found, indent) + "\n";
    if (!each.advice.empty())
      text += std::string(indent, ' ') + "-> " + in_lines(each.advice, indent + 3) + "\n";
    warnings += each.verdict == Verdict::warning ? 1 : 0;
    problems += each.verdict == Verdict::problem ? 1 : 0;
  }
  const auto counted = [](int count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  return text + "\n" + counted(problems, "problem") + ", " + counted(warnings, "warning") + "\n";
}

}  // namespace lockstep
