#pragma once
// Environments for people: those that have a name, and what jobs made of theirs.

#include <string>
#include <vector>

#include "common/domain/views.h"

namespace lockstep::cli {

std::string environment_table(const std::vector<EnvironmentView>& environments);
std::string environment_text(const EnvironmentView& environment);

// "tools:3 (venv, 0f3a9c21e4b5)"; without a name only what stands in the brackets.
std::string summary(const EnvironmentSpec& environment);
// "channels conda-forge; dependencies python=3.11, numpy": one line of what a conda file says; ""
// of the other kinds.
std::string contents(const EnvironmentSpec& environment);
// Of one part of `job show`: "" without an environment.
std::string environment_line(const PartView& part);
// The end of `job explain`: the same of all parts of the newest attempt.
std::string environment_paragraph(const JobView& job);

}  // namespace lockstep::cli
