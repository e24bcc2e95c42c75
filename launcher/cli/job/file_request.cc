#include "launcher/cli/job/file_request.h"

#include <algorithm>
#include <utility>

#include "launcher/cli/job/key_words.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

namespace {

// The launcher parses the file, too, which may be large.
constexpr Duration kCheckTimeout = seconds(60);

// Whether the error concerns the file: the same file would be refused again.
bool is_of_the_file(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::not_found ||
         code == ErrorCode::unsupported || code == ErrorCode::permission_denied ||
         code == ErrorCode::unsatisfiable || code == ErrorCode::already_exists ||
         code == ErrorCode::resource_exhausted;
}

// Names flags in an error; one of several lines has a place in each line.
Error as_typed_lines(const Error& error, const std::vector<FlagOverride>& flags) {
  std::string text;
  for (const Error& fault : spec::faults_of(error))
    text += (text.empty() ? "" : "\n") + as_typed(fault.message, flags);
  return make_error(error.code, std::move(text));
}

// Whether the job names a target; then the user's default does not count.
bool says_target(const CheckJobFile& request) {
  const auto is_target = [](const std::string& assignment) {
    return assignment.starts_with("compute=") ||
           assignment.starts_with("settings.default_compute=");
  };
  return std::any_of(request.overrides.begin(), request.overrides.end(), is_target) ||
         names_target({request.name, request.text});
}

// The wait for a launcher that is down or busy is short, because the errors are already shown.
constexpr Duration kFaultsTimeout = seconds(5);

std::vector<std::string> ask_for_faults(Context& context, const CheckJobFile& request) {
  if (!context.find_endpoint()) return {};
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return {};
  const auto checked = (*connection)->ask_for<JobFileChecked>(request, kFaultsTimeout);
  return checked && checked->knows_parts ? checked->errors : std::vector<std::string>();
}

}  // namespace

ReadJobFile read_job_file(const std::string& path, const std::vector<std::string>& overrides,
                          const JobFlags& flags, const spec::FindComponent& find) {
  const auto file = spec::read_named_text(path, Bytes{spec::kMaxFileBytes + 1});
  if (!file) return {{path, ""}, file.error()};
  CheckJobFile request{file->name, file->text, overrides};
  request.wait_anyway = flags.wait_anyway;
  spec::Faults faults;
  std::vector<FlagOverride> of_flags = overrides_of(flags, *file, faults);
  for (const FlagOverride& one : of_flags) request.overrides.push_back(one.assignment);
  const spec::ReadText noting = [&](const std::string& name) {
    auto text = spec::read_regular_text_file(name);
    if (text) request.files[name] = *text;
    return text;
  };
  spec::FindComponent noting_component;
  if (find)
    noting_component = [&](const AssetReference& reference) {
      auto found = find(reference);
      if (found) request.components[to_string(reference)] = found->file;
      return found;
    };
  auto parsed = spec::load_job(*file, request.overrides, noting, noting_component);
  if (!parsed) parsed = as_typed_lines(parsed.error(), of_flags);
  if (!faults.empty()) {
    if (!parsed) faults.add({}, parsed.error());
    parsed = faults.status().error();
  }
  return {std::move(request), std::move(parsed), std::move(of_flags)};
}

void add_override(ReadJobFile& file, std::string assignment, std::string flag) {
  file.request.overrides.push_back(assignment);
  file.flags.push_back({std::move(assignment), std::move(flag)});
}

void override_compute(ReadJobFile& file, const ComputeChoice& target) {
  add_override(file, "compute=" + target.name, target.where);
}

Result<JobFileChecked> ask_to_check(Connection& connection, const ReadJobFile& file) {
  TRY_ASSIGN(auto checked, connection.ask_for<JobFileChecked>(file.request, kCheckTimeout));
  for (std::string& error : checked.errors)
    error = with_keys(as_typed(std::move(error), file.flags));
  return checked;
}

int fail_with_all_of(Context& context, Connection& connection, const ReadJobFile& file,
                     const Error& refusal, int code) {
  const Error typed = make_error(refusal.code, with_keys(as_typed(refusal.message, file.flags)));
  if (!is_of_the_file(refusal.code)) return fail(context.terminal, typed, code);
  const auto checked = ask_to_check(connection, file);
  if (!checked || checked->errors.empty()) return fail(context.terminal, typed, code);
  for (const std::string& error : checked->errors) context.terminal.print_line(error);
  return code;
}

int fail_with_all_of(Context& context, Connection& connection, const CheckJobFile& job,
                     const Error& refusal, int code) {
  const Error said = make_error(refusal.code, with_flags(refusal.message));
  if (!is_of_the_file(refusal.code)) return fail(context.terminal, said, code);
  const auto checked = connection.ask_for<JobFileChecked>(job, kCheckTimeout);
  if (!checked || !checked->knows_parts || checked->errors.empty())
    return fail(context.terminal, said, code);
  for (const std::string& error : checked->errors) context.terminal.print_line(with_flags(error));
  return code;
}

std::vector<std::string> faults_at_launcher(Context& context, ReadJobFile file) {
  if (file.request.text.empty()) return {};  // the file could not be read
  file.request.faults_are_said = true;
  if (!says_target(file.request))
    if (const auto target = default_compute(context.home); target && !target->name.empty())
      override_compute(file, *target);
  std::vector<std::string> errors = ask_for_faults(context, file.request);
  for (std::string& error : errors) error = with_keys(as_typed(std::move(error), file.flags));
  return errors;
}

std::vector<std::string> faults_at_launcher(Context& context, CheckJobFile job) {
  job.faults_are_said = true;
  std::vector<std::string> errors = ask_for_faults(context, job);
  for (std::string& error : errors) error = with_flags(std::move(error));
  return errors;
}

int fail_with_faults(Context& context, const ReadJobFile& file, const Status& of_flags) {
  if (!file.parsed) fail_with_all(context.terminal, file.parsed.error());
  if (!of_flags) fail_with_all(context.terminal, of_flags.error());
  for (const std::string& error : faults_at_launcher(context, file))
    context.terminal.print_line(error);
  return kExitUsage;
}

}  // namespace lockstep::cli
