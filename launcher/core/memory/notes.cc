#include "launcher/core/memory/notes.h"

#include <algorithm>
#include <utility>

namespace lockstep::launcher {

void Notes::add(const Owner& job, Note note) {
  std::vector<Note>& notes = notes_[job];
  if (notes.size() >= kMaxNotesPerJob) {
    notes.erase(notes.begin());
    order_.erase(std::find(order_.begin(), order_.end(), job));
  }
  notes.push_back(std::move(note));
  order_.push_back(job);
  if (order_.size() <= kMaxNotes) return;
  const auto oldest = notes_.find(order_.front());
  order_.pop_front();
  oldest->second.erase(oldest->second.begin());
  if (oldest->second.empty()) notes_.erase(oldest);
}

const std::vector<Notes::Note>* Notes::of(const Owner& job) const {
  const auto it = notes_.find(job);
  return it == notes_.end() ? nullptr : &it->second;
}

Notes::Owner owner_of_notes(const Job& job) { return {job.id, job.incarnation}; }

}  // namespace lockstep::launcher
