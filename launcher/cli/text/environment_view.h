#pragma once
// Environments as text: the named ones, and those that a job's parts run in.

#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

std::string environment_table(const std::vector<EnvironmentView>& environments);
std::string environment_text(const EnvironmentView& environment);

// "tools:3 (venv, 0f3a9c21e4b5)"; only the text in the parentheses if it has no name.
std::string summary(const EnvironmentSpec& environment);
// One line for the content of a conda file, as in "channels conda-forge; dependencies python=3.11,
// numpy"; "" for the other kinds.
std::string contents(const EnvironmentSpec& environment);
// The environment's line for one part in `job show`; "" without an environment.
std::string environment_line(const PartView& part);
// The last paragraph of `job explain`: the same for all parts of the newest attempt.
std::string environment_paragraph(const JobView& job);

}  // namespace lockstep::cli
