#pragma once
// The families of metrics that a launcher exposes, in visible arrays: name, type, unit, labels and
// help, and how each is written. Names, units and labels stay as they are once they are released;
// docs/metrics.md lists them, and a test compares.

#include <span>
#include <vector>

#include "launcher/exposition/cluster_numbers.h"
#include "launcher/exposition/exposition_writer.h"

namespace lockstep::launcher {

struct ExposedFamily {
  MetricFamily family;
  void (*write)(const ClusterNumbers& numbers, ExpositionWriter& writer);
};

std::span<const ExposedFamily> families_of_launcher();
std::span<const ExposedFamily> families_of_jobs();  // of targets, users and jobs
std::span<const ExposedFamily> families_of_nodes();
// Of the exposition itself: how much was left out.
const MetricFamily& left_out_family();

// All of them, in the order in which they are written.
std::vector<const MetricFamily*> all_families();

}  // namespace lockstep::launcher
