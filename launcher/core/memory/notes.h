#pragma once
// Events of jobs that are not facts: why a job waits, a silent node, waiting logs. They are lost
// when the launcher restarts.

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// The notes of all jobs. At the limit, new notes replace the oldest ones.
class Notes {
 public:
  // The job that a note belongs to. A later job with the same name has another incarnation, and
  // gets none of these notes.
  struct Owner {
    JobId job;
    std::uint64_t incarnation = 0;  // Job::incarnation
    friend auto operator<=>(const Owner&, const Owner&) = default;
  };
  struct Note {
    Event event;
    std::uint64_t behind = 0;  // the number of the job's events from facts before this note
  };
  void add(const Owner& job, Note note);
  const std::vector<Note>* of(const Owner& job) const;

 private:
  std::map<Owner, std::vector<Note>> notes_;
  std::deque<Owner> order_;
};
inline constexpr std::size_t kMaxNotes = 20'000;
inline constexpr std::size_t kMaxNotesPerJob = 100;

Notes::Owner owner_of_notes(const Job& job);

}  // namespace lockstep::launcher
