#pragma once
// Sorts the steps of a pipeline so that each one comes after those to which it is bound.

#include <cstddef>
#include <vector>

#include "launcher/files/pipeline/step_tree.h"

namespace lockstep::spec {

// A step's place in the list, and the places of the steps whose outputs it reads.
struct StepNeeds {
  const PipelineNode* node = nullptr;
  struct Need {
    std::size_t step = 0;
    Place place;  // the place of the input that needs it
  };
  std::vector<Need> needs;
};

// The order, as indexes; among those that can be next, the first of the list. Steps that need each
// other are added to `faults`, each cycle whole, and the result lacks them.
std::vector<std::size_t> sort_steps(const Source& source, const std::vector<StepNeeds>& steps,
                                    Faults& faults);

}  // namespace lockstep::spec
