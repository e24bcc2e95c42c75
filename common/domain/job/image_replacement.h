#pragma once
// What people are told of a job whose image the operator's environments.map maps to an environment
// that needs no container engine (docs/decisions/058-images-without-an-engine.md). For
// launcher/core and launcher/cli alike. Pure.

#include <string>
#include <vector>

#include "common/domain/job/spec.h"

namespace lockstep {

// "image 'python:latest' runs in environment sklearn:3 instead, by the operator's
// environments.map", and the keys of the job that are ignored therefore. Of a pipeline, the lines
// of its steps, each once. Empty: no image is mapped.
std::vector<std::string> image_replacement_lines(const JobSpec& spec);

}  // namespace lockstep
