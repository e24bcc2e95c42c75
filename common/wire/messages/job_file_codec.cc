#include "common/wire/messages/job_file_codec.h"

#include "common/domain/messages/client_limits.h"
#include "common/wire/job/job_codec.h"

namespace lockstep::pb {

void to_wire(const lockstep::CheckJobFile& from, CheckJobFile* to) {
  to->set_name(from.name);
  to->set_text(from.text);
  write_texts(from.overrides, to->mutable_overrides());
  write_map(from.files, to->mutable_files());
  write_map(from.components, to->mutable_components());
  to->set_wait_anyway(from.wait_anyway);
  to->set_faults_are_said(from.faults_are_said);
  if (from.spec) to_wire(*from.spec, to->mutable_spec());
  to->set_environment(from.environment);
  write_map(from.places, to->mutable_places());
}

Status from_wire(const CheckJobFile& from, lockstep::CheckJobFile* to) {
  to->wait_anyway = from.wait_anyway();
  to->faults_are_said = from.faults_are_said();
  if (from.has_spec()) TRY(from_wire(from.spec(), &to->spec.emplace()));
  TRY(read_text(from.environment(), "job_file.environment", &to->environment));
  TRY(read_map(from.places(), kMaxJobFilePlaces, "job_file.places", &to->places));
  TRY(read_text(from.name(), "job_file.name", &to->name, kMaxJobFileNameBytes));
  TRY(read_text(from.text(), "job_file.text", &to->text, kMaxUserMessageBytes));
  TRY(read_texts(from.overrides(), kMaxJobFileOverrides, "job_file.overrides", &to->overrides));
  TRY(read_map(from.files(), kMaxJobFileFiles, "job_file.files", &to->files));
  return read_map(from.components(), kMaxJobFileFiles, "job_file.components", &to->components);
}

void to_wire(const lockstep::JobFileChecked& from, JobFileChecked* to) {
  if (from.spec) to_wire(*from.spec, to->mutable_spec());
  to->set_code(from.code);
  for (const std::string& error : from.errors) to->add_errors(fitting_text(error));
  for (const std::string& note : from.notes) to->add_notes(fitting_text(note));
  to->set_knows_parts(from.knows_parts);
}

Status from_wire(const JobFileChecked& from, lockstep::JobFileChecked* to) {
  to->knows_parts = from.knows_parts();
  if (from.has_spec()) TRY(from_wire(from.spec(), &to->spec.emplace()));
  TRY(read_text(from.code(), "job_file.code", &to->code));
  TRY(read_texts(from.errors(), kMaxJobFileLines, "job_file.errors", &to->errors));
  return read_texts(from.notes(), kMaxJobFileLines, "job_file.notes", &to->notes);
}

}  // namespace lockstep::pb
