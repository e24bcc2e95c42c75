#include "launcher/cli/job_file_request.h"

#include <utility>

#include "launcher/spec/faults.h"

namespace lockstep::cli {

namespace {

constexpr Duration kCheckTimeout = seconds(60);  // a large file is parsed there as well

// Another try of the same file would be refused again.
bool is_of_the_file(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::not_found ||
         code == ErrorCode::unsupported || code == ErrorCode::permission_denied ||
         code == ErrorCode::unsatisfiable;
}

// Errors of several lines have a place in each.
Error as_typed_lines(const Error& error, const std::vector<FlagOverride>& flags) {
  std::string text;
  for (const Error& fault : spec::faults_of(error))
    text += (text.empty() ? "" : "\n") + as_typed(fault.message, flags);
  return make_error(error.code, std::move(text));
}

}  // namespace

ReadJobFile read_job_file(const std::string& path, const std::vector<std::string>& overrides,
                          const JobFlags& flags, const spec::FindComponent& find) {
  const auto file = spec::read_named_text(path, Bytes{spec::kMaxFileBytes + 1});
  if (!file) return {{path, ""}, file.error()};
  CheckJobFile request{file->name, file->text, overrides};
  request.wait_anyway = flags.wait_anyway;
  auto of_flags = overrides_of(flags, *file);
  if (!of_flags) return {std::move(request), of_flags.error()};
  for (const FlagOverride& one : *of_flags) request.overrides.push_back(one.assignment);
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
  if (!parsed) parsed = as_typed_lines(parsed.error(), *of_flags);
  return {std::move(request), std::move(parsed), *std::move(of_flags)};
}

void override_compute(ReadJobFile& file, const ComputeChoice& target) {
  file.flags.push_back({"compute=" + target.name, target.where});
  file.request.overrides.push_back(file.flags.back().assignment);
}

Result<JobFileChecked> ask_to_check(Connection& connection, const ReadJobFile& file) {
  TRY_ASSIGN(auto checked, connection.ask_for<JobFileChecked>(file.request, kCheckTimeout));
  for (std::string& error : checked.errors) error = as_typed(std::move(error), file.flags);
  return checked;
}

int fail_with_all_of(Context& context, Connection& connection, const ReadJobFile& file,
                     const Error& refusal, int code) {
  const Error typed = make_error(refusal.code, as_typed(refusal.message, file.flags));
  if (!is_of_the_file(refusal.code)) return fail(context.terminal, typed, code);
  const auto checked = ask_to_check(connection, file);
  if (!checked || checked->errors.empty()) return fail(context.terminal, typed, code);
  for (const std::string& error : checked->errors) context.terminal.print_line(error);
  return code;
}

}  // namespace lockstep::cli
