#pragma once
// The answer to a scrape: all families with the numbers of now. Pure.

#include <string>

#include "launcher/exposition/cluster_numbers.h"
#include "launcher/exposition/exposition_writer.h"

namespace lockstep::launcher {

std::string exposition_of(const ClusterNumbers& numbers, ExpositionFormat format,
                          ExpositionLimits limits = {});

}  // namespace lockstep::launcher
