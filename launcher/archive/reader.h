#pragma once
// Answers questions about jobs that have ended, over a connection of its own, while the writer goes
// on. What of a job's words a caller is told is decided elsewhere (launcher/api/viewer.h); lists
// leave out jobs that the caller may not see. One thread at a time.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/archive/cursor.h"
#include "launcher/archive/drivers.h"
#include "launcher/archive/questions.h"
#include "launcher/archive/tables.h"

namespace lockstep::archive {

class Reader {
 public:
  // The archive is there: Writer::open() made it. corrupt: it is damaged.
  static Result<Reader> open(const std::string& path);

  // Without descriptions and digests of definitions. invalid_argument: `after` is no cursor of such
  // a list, or a limit is exceeded.
  Result<JobPage> list(const JobQuery& query);
  // All of one job; nullopt: it did not end, or was deleted.
  Result<std::optional<EndedJob>> find(const JobId& job);
  Result<std::optional<std::string>> definition(const Digest& digest);
  // How many there are of each state.
  Result<std::map<JobStatus, std::int64_t>> counts();

  // By the keys. resource_exhausted: more than kMaxUseRows.
  Result<std::vector<UseRow>> use(const UseQuery& query);

  // What is wrong with the file, for `lockstepd fsck`: at most 20 lines, none when it is well.
  Result<std::vector<std::string>> problems();

 private:
  explicit Reader(Database db) : db_(std::move(db)) {}
  struct Chosen {
    Driver driver;
    bool is_small = false;  // at most kMaxGathered jobs meet it
  };
  Result<Chosen> choose(const JobQuery& query);
  Result<JobPage> gather(const JobQuery& query, const Driver& driver,
                         const std::optional<Place>& after);
  Result<JobPage> scan(const JobQuery& query, const Driver& driver,
                       const std::optional<Place>& after);
  Status fill_tags(std::vector<EndedJob>& jobs);

  Database db_;
};

}  // namespace lockstep::archive
