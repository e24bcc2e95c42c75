#include "launcher/store/facts/job_fact_codec.h"

#include "common/wire/fields.h"

namespace lockstep::pb {

namespace {

// As a submission may have.
constexpr std::size_t kMaxTags = 100'000;
constexpr std::size_t kMaxDescriptionBytes = 1u << 20;

}  // namespace

void to_wire(const launcher::JobArchived& from, JobArchived* to) {
  to->set_job(from.job.value);
  to->set_archived(from.archived);
  to->set_by(from.by);
}
Status from_wire(const JobArchived& from, launcher::JobArchived* to) {
  TRY(read_job(from.job(), "job", &to->job));
  to->archived = from.archived();
  return read_text(from.by(), "archived.by", &to->by);
}

void to_wire(const launcher::JobAnnotated& from, JobAnnotated* to) {
  to->set_job(from.job.value);
  to->set_display_name(from.display_name);
  to->set_description(from.description);
  to->set_experiment_name(from.experiment_name);
  write_map(from.tags, to->mutable_tags());
  to->set_by(from.by);
}
Status from_wire(const JobAnnotated& from, launcher::JobAnnotated* to) {
  TRY(read_job(from.job(), "job", &to->job));
  TRY(read_text(from.display_name(), "annotated.display_name", &to->display_name));
  TRY(read_text(from.description(), "annotated.description", &to->description,
                kMaxDescriptionBytes));
  TRY(read_text(from.experiment_name(), "annotated.experiment_name", &to->experiment_name));
  TRY(read_map(from.tags(), kMaxTags, "annotated.tags", &to->tags));
  return read_text(from.by(), "annotated.by", &to->by);
}

}  // namespace lockstep::pb
