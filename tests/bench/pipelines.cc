// How long a pipeline takes to be read and checked: steps in a chain, each of a component in a file
// and bound to the one before. Prints the median of 11 readings in ms; fails above the limit of
// 200 ms for 1,000 steps if --check is given.
//   pipelines [STEPS] [--check]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/files/job_file.h"

namespace {

constexpr double kLimitMs = 200;

constexpr std::string_view kComponent = R"(type: command
inputs:
  data: {type: uri_folder, optional: true}
  lr: {type: number, default: 1e-3, min: 0, max: 1}
outputs: {model: {type: uri_folder}}
environment: {image: 'pytorch:2', conda_file: {dependencies: [python=3.11, pip: [torch, numpy]]}}
resources: {instance_count: 2}
distribution: {type: pytorch, process_count_per_instance: 4}
command: train $[[--data ${{inputs.data}}]] --lr ${{inputs.lr}} --out ${{outputs.model}}
)";

std::string chain(int steps) {
  std::string text = "type: pipeline\ninputs: {rate: 0.5}\njobs:\n";
  for (int i = 0; i < steps; ++i) {
    text += fmt::format("  step_{}:\n    component: ./train.yml\n    compute: cpu-cluster\n", i);
    text += "    inputs:\n      lr: ${{parent.inputs.rate}}\n";
    if (i > 0)
      text += fmt::format("      data: ${{{{parent.jobs.step_{}.outputs.model}}}}\n", i - 1);
  }
  return text;
}

double read_once(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  const auto job = lockstep::spec::parse_job(
      "job.yml", text, {},
      [](const std::string&) -> lockstep::Result<std::string> { return std::string(kComponent); });
  const auto valid = job ? lockstep::validate(job->spec) : lockstep::Status(job.error());
  if (!valid) {
    fmt::print(stderr, "{}\n", valid.error().message);
    std::exit(1);
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 1'000;
  bool check = false;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--check")
      check = true;
    else
      steps = std::max(1, std::atoi(argv[i]));
  const std::string text = chain(steps);
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) times.push_back(read_once(text));
  std::sort(times.begin(), times.end());
  fmt::print("{} steps: {:.1f} ms (fastest {:.1f} ms)\n", steps, times[5], times[0]);
  return check && times[5] > kLimitMs ? 1 : 0;
}
