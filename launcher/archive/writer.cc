#include "launcher/archive/writer.h"

#include <utility>

#include "common/wire/why_bytes.h"
#include "launcher/sqlite/schema.h"

namespace lockstep::archive {

struct Writer::Impl {
  explicit Impl(Database opened) : db(std::move(opened)) {}

  Status prepare();
  Status operator()(const JobEnded& change);
  Status operator()(const JobChanged& change);
  Status operator()(const JobGone& change);
  Status operator()(const Used& change);
  Status set_tags(std::uint64_t order, const std::map<std::string, std::string>& tags);
  Status set_texts(std::uint64_t order, const JobChanged::Texts& texts);
  Status keep_definition(const JobEnded& change);
  Status remove(std::uint64_t order);
  Status save(const JournalPosition& mark);
  Result<std::optional<std::uint64_t>> order_of(const JobId& job);

  Database db;
  std::optional<JournalPosition> mark;
  Statement find_job, add_job, remove_job, archive_job, share_job, leave_parent;
  Statement add_tag, remove_tags;
  Statement add_detail, remove_detail, set_description, set_texts_of_job;
  Statement add_definition, drop_definition, remove_definitions;
  Statement add_use, save_mark;
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Result<Writer> Writer::open(const std::string& path) {
  TRY_ASSIGN(auto db, open_tables(path));
  auto impl = std::make_unique<Impl>(std::move(db));
  TRY_ASSIGN(impl->mark, read_mark(impl->db));
  TRY(impl->prepare());
  return Writer(std::move(impl));
}

Status Writer::Impl::prepare() {
  TRY_ASSIGN(find_job, db.prepare("SELECT jorder FROM job WHERE name = ?1"));
  // The order of a job that was deleted may be that of a later one.
  TRY_ASSIGN(add_job, db.prepare("INSERT OR REPLACE INTO job VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                                 "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"));
  TRY_ASSIGN(remove_job, db.prepare("DELETE FROM job WHERE jorder = ?1"));
  TRY_ASSIGN(archive_job, db.prepare("UPDATE job SET archived = ?2 WHERE name = ?1 OR "
                                     "(parent = ?1 AND step <> '')"));
  TRY_ASSIGN(share_job, db.prepare("UPDATE job SET shared = ?2 WHERE name = ?1 OR "
                                   "(parent = ?1 AND step <> '')"));
  TRY_ASSIGN(leave_parent,
             db.prepare("UPDATE job SET parent = '' WHERE parent = ?1 AND step = ''"));
  TRY_ASSIGN(add_tag, db.prepare("INSERT OR IGNORE INTO tag VALUES (?1, ?2, ?3)"));
  TRY_ASSIGN(remove_tags, db.prepare("DELETE FROM tag WHERE jorder = ?1"));
  TRY_ASSIGN(add_detail, db.prepare("INSERT OR REPLACE INTO detail VALUES (?1, ?2, ?3)"));
  TRY_ASSIGN(remove_detail, db.prepare("DELETE FROM detail WHERE jorder = ?1"));
  TRY_ASSIGN(set_description, db.prepare("UPDATE detail SET description = ?2 WHERE jorder = ?1"));
  TRY_ASSIGN(set_texts_of_job,
             db.prepare("UPDATE job SET title = ?2, experiment = ?3 WHERE jorder = ?1"));
  TRY_ASSIGN(add_definition, db.prepare("INSERT INTO definition VALUES (?1, ?2, 1) "
                                        "ON CONFLICT (digest) DO UPDATE SET jobs = jobs + 1"));
  TRY_ASSIGN(drop_definition, db.prepare("UPDATE definition SET jobs = jobs - 1 WHERE digest = "
                                         "(SELECT definition FROM detail WHERE jorder = ?1)"));
  TRY_ASSIGN(remove_definitions, db.prepare("DELETE FROM definition WHERE jobs <= 0 AND digest = "
                                            "(SELECT definition FROM detail WHERE jorder = ?1)"));
  TRY_ASSIGN(add_use,
             db.prepare("INSERT INTO accounting VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                        "?11) ON CONFLICT (day, owner, project, target) DO UPDATE SET "
                        "cpu_ms = cpu_ms + ?5, gpu_ms = gpu_ms + ?6, "
                        "memory_mib_s = memory_mib_s + ?7, used_cpu_ms = used_cpu_ms + ?8, "
                        "waited_ms = waited_ms + ?9, attempts = attempts + ?10, "
                        "jobs = jobs + ?11"));
  TRY_ASSIGN(save_mark, db.prepare("INSERT OR REPLACE INTO mark VALUES (1, ?1, ?2, ?3, ?4)"));
  return {};
}

const std::optional<JournalPosition>& Writer::mark() const { return impl_->mark; }

Status Writer::apply(const std::vector<Change>& changes, const JournalPosition& mark) {
  TRY_ASSIGN(auto transaction, Transaction::begin(impl_->db));
  for (const Change& change : changes) TRY(std::visit(*impl_, change));
  TRY(impl_->save(mark));
  TRY(transaction.commit());
  impl_->mark = mark;
  return {};
}

Status Writer::sync() { return launcher::checkpoint_wal(impl_->db); }

Status Writer::finish() { return impl_->db.execute("PRAGMA journal_mode = DELETE"); }

Status Writer::Impl::save(const JournalPosition& position) {
  bind_values(save_mark, position.generation, position.compacted, position.facts);
  save_mark.bind_blob(4, position.chain.view());
  return save_mark.run();
}

Result<std::optional<std::uint64_t>> Writer::Impl::order_of(const JobId& job) {
  const ResetAtEnd reset(find_job);
  bind_values(find_job, job.value);
  TRY_ASSIGN(const bool found, find_job.step());
  if (!found) return std::optional<std::uint64_t>();
  return std::optional(static_cast<std::uint64_t>(find_job.integer(0)));
}

Status Writer::Impl::set_tags(std::uint64_t order, const std::map<std::string, std::string>& tags) {
  bind_values(remove_tags, order);
  TRY(remove_tags.run());
  for (const auto& [key, value] : tags) {
    bind_values(add_tag, key, value, order);
    TRY(add_tag.run());
  }
  return {};
}

Status Writer::Impl::keep_definition(const JobEnded& change) {
  const EndedJob& job = change.job;
  bind_values(add_detail, job.order, job.description);
  if (!job.definition) {
    add_detail.bind_null(3);
    return add_detail.run();
  }
  add_detail.bind_blob(3, job.definition->view());
  TRY(add_detail.run());
  add_definition.bind_blob(1, job.definition->view());
  add_definition.bind_blob(2, change.definition);
  return add_definition.run();
}

Status Writer::Impl::operator()(const JobEnded& change) {
  const EndedJob& job = change.job;
  const std::string why = wire::encode_why(job.why);
  TRY(remove(job.order));
  bind_values(add_job, job.order, job.job.value, to_string(job.status), job.owner, job.project,
              job.experiment, job.title, job.target, job.parent.value, job.step, job.archived,
              job.shared, job.submitted.ns, job.started.ns, job.ended.ns, job.nodes, job.attempts,
              job.cause);
  add_job.bind_blob(19, why);
  TRY(add_job.run());
  TRY(set_tags(job.order, job.tags));
  return keep_definition(change);
}

Status Writer::Impl::operator()(const JobChanged& change) {
  if (change.archived) {
    bind_values(archive_job, change.job.value, *change.archived);
    TRY(archive_job.run());
  }
  if (change.shared) {
    bind_values(share_job, change.job.value, *change.shared);
    TRY(share_job.run());
  }
  if (!change.texts) return {};
  TRY_ASSIGN(const auto order, order_of(change.job));
  return order ? set_texts(*order, *change.texts) : Status();
}

Status Writer::Impl::set_texts(std::uint64_t order, const JobChanged::Texts& texts) {
  bind_values(set_texts_of_job, order, texts.title, texts.experiment);
  TRY(set_texts_of_job.run());
  bind_values(set_description, order, texts.description);
  TRY(set_description.run());
  return set_tags(order, texts.tags);
}

// The definition goes before the detail that names it.
Status Writer::Impl::remove(std::uint64_t order) {
  for (Statement* statement :
       {&drop_definition, &remove_definitions, &remove_detail, &remove_tags, &remove_job}) {
    bind_values(*statement, order);
    TRY(statement->run());
  }
  return {};
}

Status Writer::Impl::operator()(const JobGone& change) {
  TRY_ASSIGN(const auto order, order_of(change.job));
  if (order) TRY(remove(*order));
  bind_values(leave_parent, change.job.value);
  return leave_parent.run();
}

Status Writer::Impl::operator()(const Used& change) {
  const auto& [day, owner, project, target] = change.key;
  const Use& use = change.use;
  bind_values(add_use, day, owner, project, target, use.cpu_ms, use.gpu_ms, use.memory_mib_s,
              use.used_cpu_ms, use.waited_ms, use.attempts, use.jobs);
  return add_use.run();
}

}  // namespace lockstep::archive
