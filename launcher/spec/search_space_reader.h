#pragma once
// `search_space` of a sweep: names, and for each the values that it may take, by Azure's parameter
// expressions (choice, uniform, qloguniform, …). Values of a choice may be mappings, whose keys are
// constants or expressions again.

#include <map>
#include <string>
#include <vector>

#include "common/domain/sweep.h"
#include "launcher/spec/conda_file.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadSpace {
  SearchSpace space;                    // without the parameters that have a fault
  std::map<std::string, Place> places;  // of all parameters' names, also of those
};

// Every fault is added to `faults`, with the place of the key that is wrong.
ReadSpace read_search_space(const Source& source, const YamlNode& node,
                            const SamplingAlgorithm& sampling, Faults& faults, Notes& notes);

// Values that the expression gives, those at its ends among them: what takes them takes all.
std::vector<std::string> sample_texts(const SearchExpression& expression, double log_base);

// A scalar as a value of a choice: 16 is a number, "16" a text.
SweepValue sweep_value(const YamlNode& scalar);

}  // namespace lockstep::spec
