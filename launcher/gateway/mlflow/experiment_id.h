#pragma once
// MLflow knows experiments by an id, jobs have the names of theirs alone; so the id is made of the
// name. Clients accept letters, digits, '-' and '_', at most 64.

#include <string>
#include <string_view>

namespace lockstep::mlflow {

// "0" for the experiment without a name, as MLflow's default one; most names are their own id, and
// others are known by a digest: two names never have the same.
std::string experiment_id_of(std::string_view name);

inline constexpr std::string_view kDefaultExperimentId = "0";
inline constexpr std::string_view kDefaultExperimentName = "Default";

}  // namespace lockstep::mlflow
