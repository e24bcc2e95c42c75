// What comes with files: jobs and assets. Their trees must be whole and the caller's own, and what
// refers to something the launcher has is resolved before the core hears of it.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/domain/client_limits.h"
#include "common/domain/pipeline.h"
#include "launcher/api/job_name.h"
#include "launcher/api/service.h"
#include "launcher/core/environment_requests.h"
#include "launcher/core/quotas.h"
#include "launcher/core/users.h"

namespace lockstep::launcher {
namespace {

// What the client must have sent.
void add_trees(const JobSpec& spec, std::set<Digest>* roots) {
  if (spec.snapshot) roots->insert(*spec.snapshot);
  if (const Digest* context = spec.environment ? context_of(spec.environment->definition) : nullptr)
    roots->insert(*context);
  for (const DataInput& input : spec.data)
    if (input.tree) roots->insert(*input.tree);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) add_trees(step.spec, roots);
}

std::vector<Digest> trees_sent_with(const JobSpec& spec) {
  std::set<Digest> roots;
  add_trees(spec, &roots);
  return {roots.begin(), roots.end()};
}

bool is_asset(const std::string& source) {
  const auto reference = parse_data_reference(source);
  return reference && *reference && std::holds_alternative<AssetReference>(**reference);
}

// The job's own spec and those of its steps.
std::vector<const JobSpec*> specs_of(const JobSpec& spec) {
  std::vector<const JobSpec*> specs = {&spec};
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) specs.push_back(&step.spec);
  return specs;
}

bool is_bound(const PipelineStep& step, const DataInput& input) {
  return std::any_of(step.bindings.begin(), step.bindings.end(),
                     [&](const StepBinding& binding) { return binding.input == input.name; });
}

// All inputs of a submission that are not outputs of its steps, to be resolved one after another.
std::vector<NamedInput> inputs_of(const JobSpec& spec) {
  std::vector<NamedInput> inputs;
  for (const DataInput& input : spec.data) inputs.push_back({"", input});
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps)
      for (const DataInput& input : step.spec.data)
        if (!is_bound(step, input)) inputs.push_back({step.name, input});
  return inputs;
}

// Puts them back, in the same order.
void set_inputs(JobSpec& spec, std::vector<NamedInput> inputs) {
  auto next = inputs.begin();
  for (DataInput& input : spec.data) input = std::move((next++)->input);
  if (next == inputs.end()) return;
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps)
    for (DataInput& input : step.spec.data)
      if (!is_bound(step, input)) input = std::move((next++)->input);
  spec.pipeline = std::move(pipeline);
}

}  // namespace

void Service::submit(const Asker& asker, Submit submit) {
  std::set<std::string> named;
  for (const JobSpec* spec : specs_of(submit.spec)) {
    if (const auto fits = check_variables_size(spec->environment_variables); !fits)
      return refuse(asker, fits.error().code, fits.error().message);
    named.merge(secrets_of(spec->environment_variables));
  }
  if (const auto there = ports_.expect_secrets(name_of(asker.caller), named); !there)
    return refuse(asker, there.error().code, there.error().message);
  if (submit.spec.pipeline)
    if (const Status good = validate(*submit.spec.pipeline); !good)
      return refuse(asker, good.error().code, good.error().message);
  // One that was taken already is answered: it takes nothing more.
  const auto low = ports_.low_space();
  if (!low.empty() && state().job_of_submission(submit.submission) == nullptr)
    return refuse(asker, ErrorCode::resource_exhausted, low);
  // The job record says that a version was used only if the launcher has resolved it.
  std::vector<NamedInput> inputs = inputs_of(submit.spec);
  for (NamedInput& named_input : inputs)
    if (is_asset(named_input.input.source)) named_input.input.tree.reset();
  set_inputs(submit.spec, inputs);
  std::vector<Digest> roots = trees_sent_with(submit.spec);  // before `submit` is moved
  check_trees(asker, std::move(roots),
              [this, asker, submit = std::move(submit),
               inputs = std::move(inputs)](Result<bool> whole) mutable {
                if (!whole) return refuse(asker, whole.error().code, whole.error().message);
                if (!*whole) return reply(asker, SubmitReply{JobId(submit.spec.name), true});
                resolve_inputs(asker, std::move(submit), std::move(inputs), 0);
              });
}

// From the input with this index on, one after another.
void Service::resolve_inputs(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                             std::size_t index) {
  if (state().job_of_submission(submit.submission) != nullptr) return submit_whole(asker, submit);
  for (; index < inputs.size(); ++index) {
    DataInput& input = inputs[index].input;
    if (input.tree || input.mode == InputMode::direct) continue;
    const auto reference = parse_data_reference(input.source);
    const auto fail = [this, asker, named = inputs[index]](const Error& error) {
      const Error whole = about(named.input, error);
      const std::string step = named.step.empty() ? "" : "jobs." + named.step + ".";
      refuse(asker, whole.code, step + whole.message);
    };
    if (!reference) return fail(reference.error());
    if (!*reference)
      return fail(make_error(ErrorCode::invalid_argument, "its files were not sent"));
    if (const auto* output = std::get_if<JobOutputReference>(&**reference)) {
      const auto question = question_of(state(), asker.caller, input.type, *output);
      if (!question) return fail(question.error());
      return ports_.find_tree(
          *question, [this, asker, fail, index, submit = std::move(submit),
                      inputs = std::move(inputs)](Result<snapshot::Subtree> found) mutable {
            if (asker.deadline < ports_.now()) return;  // its client asks again
            if (!found) return fail(found.error());
            DataInput& one = inputs[index].input;
            if (const Status taken = take_found(*found, one.type, one.tree, one.file); !taken)
              return fail(taken.error());
            resolve_inputs(asker, std::move(submit), std::move(inputs), index + 1);
          });
    }
    const Status taken =
        take_asset(state(), asker.caller, std::get<AssetReference>(**reference), input);
    if (!taken) return fail(taken.error());
  }
  set_inputs(submit.spec, std::move(inputs));
  submit_whole(asker, submit);
}

void Service::submit_whole(const Asker& asker, const Submit& submit) {
  const auto feed = [this, asker, submit](Bytes size) {
    ports_.feed(SubmitInput{expect_reply(asker), submit.submission, submit.spec,
                            generated_job_name(ports_.random()), submit.rebuild, asker.caller,
                            size});
  };
  JobSpec owned;  // as the core will take it
  owned.submitter = name_of(asker.caller);
  owned.project = project_of_new(state().principals(), asker.caller, submit.spec.project);
  if (!submit.spec.snapshot || !limits_snapshot(state(), owned)) return feed({});
  ports_.measure_snapshot(*submit.spec.snapshot, [this, asker, feed](Result<Bytes> size) {
    if (!size) return refuse(asker, size.error().code, size.error().message);
    feed(*size);
  });
}

void Service::create_asset(const Asker& asker, CreateAsset create) {
  if (const auto low = ports_.low_space(); !low.empty())
    return refuse(asker, ErrorCode::resource_exhausted, low);
  const auto reference = parse_data_reference(create.asset.path);
  if (!reference) return refuse(asker, reference.error().code, reference.error().message);
  if (*reference) return create_from(asker, std::move(create), **reference);
  if (!create.asset.tree)
    return refuse(asker, ErrorCode::invalid_argument, "path: the asset has no files");
  const Digest root = *create.asset.tree;
  check_trees(asker, {root}, [this, asker, create = std::move(create)](Result<bool> whole) {
    if (!whole) return refuse(asker, whole.error().code, whole.error().message);
    if (!*whole)
      return refuse(asker, ErrorCode::not_found,
                    "path: the launcher does not have all of these files; create it again");
    ports_.feed(CreateAssetInput{expect_reply(asker), create.asset, create.project, asker.caller});
  });
}

void Service::create_from(const Asker& asker, CreateAsset create, const DataReference& reference) {
  const auto* output = std::get_if<JobOutputReference>(&reference);
  const auto fail = [this, asker, path = create.asset.path](const Error& error) {
    refuse(asker, error.code, fmt::format("path: {}: {}", path, error.message));
  };
  if (output == nullptr)
    return fail(
        make_error(ErrorCode::unsupported, "it is registered already; name it in a job as it is"));
  const auto question = question_of(state(), asker.caller, create.asset.type, *output);
  if (!question) return fail(question.error());
  ports_.find_tree(*question, [this, asker, fail, create = std::move(create)](
                                  Result<snapshot::Subtree> found) mutable {
    if (asker.deadline < ports_.now()) return;  // its client asks again
    if (!found) return fail(found.error());
    RegisteredAsset& asset = create.asset;
    if (const Status taken = take_found(*found, asset.type, asset.tree, asset.file); !taken)
      return fail(taken.error());
    ports_.feed(
        CreateAssetInput{expect_reply(asker), std::move(asset), create.project, asker.caller});
  });
}

// One after another; a request whose time is over gets no answer: its client asks again.
void Service::check_trees(const Asker& asker, std::vector<Digest> roots,
                          std::function<void(Result<bool>)> then) {
  if (roots.empty()) return then(true);
  const Digest root = roots.back();
  roots.pop_back();
  ports_.check_snapshot(
      asker.caller, root,
      [this, asker, roots = std::move(roots), then = std::move(then)](Result<bool> whole) mutable {
        if (asker.deadline < ports_.now()) return;
        if (!whole || !*whole) return then(std::move(whole));
        check_trees(asker, std::move(roots), std::move(then));
      });
}

}  // namespace lockstep::launcher
