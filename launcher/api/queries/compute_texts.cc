#include "launcher/api/queries/compute_texts.h"

#include "launcher/words/why.h"

namespace lockstep::launcher {

using words::text_of;

void add_texts(ComputeView& view) {
  view.leaving = text_of(view.leaving_data);
  view.scaling.why = text_of(view.scaling.why_data);
  view.scaling.failure = text_of(view.scaling.failure_data);
  view.instance.why = text_of(view.instance.why_data);
  view.instance.problem = text_of(view.instance.problem_data);
  for (MachineView& machine : view.machines) {
    machine.why = text_of(machine.why_data);
    machine.failure = text_of(machine.failure_data);
    if (machine.waits_data) machine.about["reason"] = text_of(machine.waits_data);
  }
  for (ComputeEvent& event : view.history) event.text = text_of(event.why_data);
}

std::vector<ComputeView> with_texts(std::vector<ComputeView> views) {
  for (ComputeView& view : views) add_texts(view);
  return views;
}

}  // namespace lockstep::launcher
