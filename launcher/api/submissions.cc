// Submissions of jobs and assets with files. Their trees must be complete and belong to the caller.
// References to things of the launcher are resolved before the core gets the request.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/client_limits.h"
#include "launcher/api/checks/mapped_images.h"
#include "launcher/api/job_name.h"
#include "launcher/api/service.h"
#include "launcher/core/access/users.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/names/objects.h"

namespace lockstep::launcher {

namespace {

// Adds the trees that the client must have sent.
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

// Adds the sources of the job and of its steps.
void add_code(const JobSpec& spec, std::set<Digest>* roots) {
  if (spec.snapshot) roots->insert(*spec.snapshot);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) add_code(step.spec, roots);
}

std::vector<Digest> code_of(const JobSpec& spec) {
  std::set<Digest> roots;
  add_code(spec, &roots);
  return {roots.begin(), roots.end()};
}

bool is_resolved_here(const std::string& source) {
  const auto reference = parse_data_reference(source);
  return reference && *reference && !std::holds_alternative<JobOutputReference>(**reference);
}

// The job's own spec and the specs of its steps.
std::vector<const JobSpec*> specs_of(const JobSpec& spec) {
  std::vector<const JobSpec*> specs = {&spec};
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) specs.push_back(&step.spec);
  return specs;
}

bool is_of_registered(const DataInput& input) {
  const auto reference = parse_data_reference(input.source);
  return reference && *reference && std::holds_alternative<AssetReference>(**reference);
}

bool is_of_registered(const State& state, const EnvironmentSpec& environment) {
  const EnvironmentVersion* version = state.registered(environment.name, environment.version);
  return version != nullptr && version->definition == digest_of(environment.definition);
}

// The trees that the launcher keeps for this job. Files of registered versions count for the user
// who registered them, and stay if the job is deleted.
std::vector<Digest> kept_for(const State& state, const JobSpec& whole) {
  std::set<Digest> trees;
  for (const JobSpec* spec : specs_of(whole)) {
    if (spec->snapshot) trees.insert(*spec->snapshot);
    const auto& environment = spec->environment;
    const Digest* context = environment ? context_of(environment->definition) : nullptr;
    if (context != nullptr && !is_of_registered(state, *environment)) trees.insert(*context);
    for (const DataInput& input : spec->data)
      if (input.tree && !is_of_registered(input)) trees.insert(*input.tree);
  }
  return {trees.begin(), trees.end()};
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

// Writes the resolved inputs back, in the same order.
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

// Whether the launcher may take the submission at all, before it looks at its files.
Status Service::check_submission(const Asker& asker, const Submit& submit) {
  std::set<std::string> named;
  for (const JobSpec* spec : specs_of(submit.spec)) {
    TRY(check_variables_size(spec->environment_variables));
    named.merge(secrets_of(spec->environment_variables));
  }
  TRY(check_secrets(state(), asker.caller, named));
  TRY(ports_.secrets.expect(owner_of(asker.caller), named));
  if (submit.spec.pipeline) TRY(validate(*submit.spec.pipeline));
  // A submission that was accepted before is answered again, and needs no more space.
  const auto low = ports_.launcher.low_space();
  if (!low.empty() && state().job_of_submission(submit.submission) == nullptr)
    return make_error(ErrorCode::resource_exhausted, low);
  return {};
}

void Service::submit(const Asker& asker, Submit submit) {
  if (const Status good = check_submission(asker, submit); !good)
    return refuse(asker, good.error().code, good.error().message);
  // A submission that was accepted before has its environments in the journal.
  if (state().job_of_submission(submit.submission) == nullptr)
    if (const Status replaced = replace_images(submit.spec, images_in_map()); !replaced)
      return refuse(asker, replaced.error().code, replaced.error().message);
  // The job's record names a version as used only if the launcher has resolved it, so clients'
  // values are dropped.
  std::vector<NamedInput> inputs = inputs_of(submit.spec);
  for (NamedInput& named_input : inputs) {
    DataInput& input = named_input.input;
    input.place.reset();
    if (!is_resolved_here(input.source)) continue;
    input.tree.reset();
    input.file.clear();
  }
  set_inputs(submit.spec, inputs);
  std::vector<Digest> roots = trees_sent_with(submit.spec);  // before `submit` is moved
  check_trees(asker, std::move(roots),
              [this, asker, submit = std::move(submit),
               inputs = std::move(inputs)](Result<bool> whole) mutable {
                if (!whole) return refuse(asker, whole.error().code, whole.error().message);
                if (!*whole) return reply(asker, SubmitReply{JobId(submit.spec.name), true});
                std::vector<Digest> code = code_of(submit.spec);
                check_code(asker, std::move(code),
                           [this, asker, submit = std::move(submit),
                            inputs = std::move(inputs)](const Status& free) mutable {
                             if (!free)
                               return refuse(asker, free.error().code, free.error().message);
                             resolve_inputs(asker, std::move(submit), std::move(inputs), 0);
                           });
              });
}

void Service::refuse_input(const Asker& asker, const NamedInput& named, const Error& error) {
  const Error whole = about(named.input, error);
  const std::string step = named.step.empty() ? "" : "jobs." + named.step + ".";
  refuse(asker, whole.code, step + whole.message);
}

// Takes the output of a job as the input with this index, and goes on with the next.
void Service::find_input(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                         std::size_t index, const TreeQuestion& question) {
  ports_.blobs.find(asker.caller, question,
                    [this, asker, index, submit = std::move(submit),
                     inputs = std::move(inputs)](Result<snapshot::Subtree> found) mutable {
                      // Too late: its client asks again.
                      if (asker.deadline < ports_.clock.now()) return;
                      if (!found) return refuse_input(asker, inputs[index], found.error());
                      DataInput& one = inputs[index].input;
                      if (const Status taken = take_found(*found, one.type, one.tree, one.file);
                          !taken)
                        return refuse_input(asker, inputs[index], taken.error());
                      resolve_inputs(asker, std::move(submit), std::move(inputs), index + 1);
                    });
}

// Resolves inputs one after another, from this index on.
void Service::resolve_inputs(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                             std::size_t index) {
  if (state().job_of_submission(submit.submission) != nullptr) return submit_whole(asker, submit);
  for (; index < inputs.size(); ++index) {
    DataInput& input = inputs[index].input;
    const auto stored = datastore_reference(input.source);
    if (input.tree || input.place || (input.mode == InputMode::direct && !stored)) continue;
    const auto reference = parse_data_reference(input.source);
    const auto fail = [&](const Error& error) { refuse_input(asker, inputs[index], error); };
    if (!reference) return fail(reference.error());
    if (!*reference)
      return fail(make_error(ErrorCode::invalid_argument, "its files were not sent"));
    if (stored) {
      const auto store = datastore_for(asker.caller, submit.spec.project, stored->datastore);
      if (!store) return fail(store.error());
      const bool is_remote = store->view.kind == DatastoreKind::rclone;
      const Status taken =
          is_remote ? check_remote(*store, input) : take_place(*store, *stored, input);
      if (!taken) return fail(taken.error());
      if (!is_remote) continue;
      return fetch_input(asker, std::move(submit), std::move(inputs), index,
                         files_of(*store, *stored));
    }
    if (const auto* output = std::get_if<JobOutputReference>(&**reference)) {
      const auto question = question_of(state(), asker.caller, input.type, *output);
      if (!question) return fail(question.error());
      return find_input(asker, std::move(submit), std::move(inputs), index, *question);
    }
    const Status taken =
        take_asset(state(), asker.caller, std::get<AssetReference>(**reference), input);
    if (!taken) return fail(taken.error());
  }
  set_inputs(submit.spec, std::move(inputs));
  if (const Status placed = place_outputs(asker.caller, submit.spec); !placed)
    return refuse(asker, placed.error().code, placed.error().message);
  submit_whole(asker, submit);
}

void Service::submit_whole(const Asker& asker, const Submit& submit) {
  measure_sources(asker, submit, kept_for(state(), submit.spec), {});
}

// Measures one tree after another; sizes that are known need no wait.
void Service::measure_sources(const Asker& asker, const Submit& submit, std::vector<Digest> trees,
                              std::vector<JobSource> measured) {
  const std::size_t next = measured.size();
  if (next == trees.size()) {
    Bytes of_snapshot;
    for (const JobSource& source : measured)
      if (submit.spec.snapshot == source.tree) of_snapshot = source.size;
    return ports_.core.feed(SubmitInput{expect_reply(asker), submit.submission, submit.spec,
                                        generated_job_name(ports_.clock.random()), submit.rebuild,
                                        asker.caller, of_snapshot, submit.waits, submit.wait_anyway,
                                        std::move(measured)});
  }
  const Digest tree = trees[next];
  ports_.blobs.measure(asker.caller, tree,
                       [this, asker, submit, trees = std::move(trees),
                        measured = std::move(measured)](Result<Bytes> size) mutable {
                         // Too late: its client asks again.
                         if (asker.deadline < ports_.clock.now()) return;
                         if (!size) return refuse(asker, size.error().code, size.error().message);
                         measured.push_back({trees[measured.size()], *size});
                         measure_sources(asker, submit, std::move(trees), std::move(measured));
                       });
}

// ---- datastores ---------------------------------------------------------------------------------

Result<spec::Datastore> Service::datastore_for(const Caller& caller, const std::string& project,
                                               const std::string& name) const {
  TRY_ASSIGN(const Datastores all, shown_to(state(), caller, ports_.files.datastores()));
  return find_datastore(
      all, {owner_of(caller), project_of_new(state().principals(), caller, project)}, name);
}

// Checks the outputs of the job and of its steps.
Status Service::place_outputs(const Caller& caller, JobSpec& spec) const {
  std::optional<Datastores> stores;
  const DatastoreUser user{owner_of(caller),
                           project_of_new(state().principals(), caller, spec.project)};
  const auto place = [&](std::vector<OutputSpec>& outputs) -> Status {
    for (OutputSpec& output : outputs) {
      output.place.reset();
      output.remote.clear();
      if (output.path.empty()) continue;
      if (!stores) {
        TRY_ASSIGN(stores, shown_to(state(), caller, ports_.files.datastores()));
      }
      TRY(place_output(*stores, user, output));
    }
    return {};
  };
  TRY(place(spec.outputs));
  if (!spec.pipeline) return {};
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps)
    if (const Status placed = place(step.spec.outputs); !placed)
      return placed.error().within("jobs." + step.name);
  spec.pipeline = std::move(pipeline);
  return {};
}

// The client waits as long as it gets messages.
void Service::fetch_for(const Asker& asker, const RemoteFiles& files,
                        std::function<void(const Asker&, Result<snapshot::Subtree>)> then) {
  const auto waits = std::make_shared<Asker>(asker);
  const auto tell = [this, waits](const std::string& what) {
    if (!waits->takes_waits) return;
    waits->deadline = std::max(waits->deadline, ports_.clock.now() + kWaitsForDiskLasts);
    ports_.replies.send(waits->connection, waits->sequence, WaitsForData{what});
  };
  ports_.blobs.fetch_remote(asker.caller, files, tell,
                            [this, waits, then = std::move(then)](Result<snapshot::Subtree> found) {
                              if (waits->deadline < ports_.clock.now())
                                return;  // too late: its client asks again
                              then(*waits, std::move(found));
                            });
}

void Service::fetch_input(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                          std::size_t index, const RemoteFiles& files) {
  struct Held {
    Submit submit;
    std::vector<NamedInput> inputs;
  };
  const auto held = std::make_shared<Held>(Held{std::move(submit), std::move(inputs)});
  fetch_for(
      asker, files, [this, held, index](const Asker& waited, Result<snapshot::Subtree> found) {
        NamedInput& named = held->inputs[index];
        DataInput& input = named.input;
        const Status taken =
            found ? take_found(*found, input.type, input.tree, input.file) : Status(found.error());
        if (taken)
          return resolve_inputs(waited, std::move(held->submit), std::move(held->inputs),
                                index + 1);
        const Error whole = about(input, taken.error());
        const std::string step = named.step.empty() ? "" : "jobs." + named.step + ".";
        refuse(waited, whole.code, step + whole.message);
      });
}

// ---- registered data ----------------------------------------------------------------------------

// Checks trees one after another. A request that is late gets no answer, since its client asks
// again.
void Service::check_trees(const Asker& asker, std::vector<Digest> roots,
                          std::function<void(Result<bool>)> then) {
  if (roots.empty()) return then(true);
  const Digest root = roots.back();
  roots.pop_back();
  ports_.blobs.check_whole(
      asker.caller, root,
      [this, asker, roots = std::move(roots), then = std::move(then)](Result<bool> whole) mutable {
        if (asker.deadline < ports_.clock.now()) return;
        if (!whole || !*whole) return then(std::move(whole));
        check_trees(asker, std::move(roots), std::move(then));
      });
}

// Checks that no tree has files in the folders of a job's outputs. Our client leaves such files
// out; files of another client would make the job fail on each node.
void Service::check_code(const Asker& asker, std::vector<Digest> roots,
                         std::function<void(const Status& free)> then) {
  if (roots.empty()) return then({});
  const TreeQuestion question{{{0, roots.back()}}, std::string(kReservedFolder)};
  roots.pop_back();
  ports_.blobs.find(
      asker.caller, question,
      [this, asker, roots = std::move(roots),
       then = std::move(then)](const Result<snapshot::Subtree>& found) mutable {
        if (asker.deadline < ports_.clock.now()) return;  // too late: its client asks again
        if (!found && found.error().code == ErrorCode::not_found)
          return check_code(asker, std::move(roots), std::move(then));
        const bool is_there = found || found.error().code == ErrorCode::unsupported;
        then(is_there ? make_error(ErrorCode::invalid_argument,
                                   fmt::format("code: has '{}', where jobs keep their outputs; "
                                               "give that another name",
                                               kReservedFolder))
                      : found.error());
      });
}

}  // namespace lockstep::launcher
