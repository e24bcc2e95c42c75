#include "common/snapshot/capture/ignore_stack.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
#include "common/snapshot/ignore/repository.h"

namespace lockstep::snapshot {

void IgnoreStack::resize_to(std::size_t size) {
  files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(size), files_.end());
}

Status IgnoreStack::push(int fd, const std::string& folder, const std::string& name) {
  auto content = read_ignore_file(fd, name, directory_ + "/" + folder + name);
  if (!content) {
    Error error = std::move(content).error();
    if (error.code == ErrorCode::permission_denied) error.message += "; make it readable";
    return error;
  }
  if (*content) files_.emplace_back(folder + name, below_ + folder, **content);
  return {};
}

// Reads the repository's ignore files. A person who names a folder wants its contents, even if the
// repository ignores the folder (build/), or ignores a whole home directory as repositories of
// settings do.
void IgnoreStack::read_repository(std::vector<std::string>& notes) {
  auto repository = find_repository(directory_);
  if (!repository) return;
  notes = std::move(repository->notes);
  tracked_ = std::move(repository->tracked);
  if (const auto match = repository->of_itself(); match.file != nullptr) {
    notes.push_back(fmt::format(
        "{}:{}: {} leaves out all of {}; since the folder was named, only ignore files in it count",
        quoted_name(match.file->source()), match.pattern->line, quoted_name(match.pattern->text),
        quoted_name(directory_)));
    return;
  }
  below_ = std::move(repository->below);
  files_ = std::move(repository->files);
}

// Finds the pattern that decides. It is in the innermost of the ignore files that have a matching
// pattern.
std::optional<SkippedPath> IgnoreStack::matching(const std::string& path, bool is_directory) const {
  std::string whole;
  if (!below_.empty()) whole = below_ + path;
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    const IgnorePattern* pattern = file->match(below_.empty() ? path : whole, is_directory);
    if (pattern == nullptr) continue;
    if (pattern->negative) return std::nullopt;
    return SkippedPath{is_directory ? path + "/" : path, file->source(), pattern->line,
                       pattern->text};
  }
  return std::nullopt;
}

// Whether a path is left out. As in git, a tracked file is never ignored, and in an ignored folder
// every untracked file is ignored, whatever other patterns match it.
bool IgnoreStack::leaves_out(const std::string& path, bool is_directory,
                             std::vector<SkippedPath>& skipped, std::vector<std::string>& notes) {
  const bool is_inside = entered_ && path.starts_with(entered_->path);
  std::optional<SkippedPath> match;
  if (!is_inside) match = matching(path, is_directory);
  if (!is_inside && !match) return false;
  if (tracked_.has(path, notes)) return false;  // a submodule counts as tracked, too
  if (is_directory && tracked_.has_below(path, notes)) {
    if (is_inside) return false;
    SkippedPath others = *std::move(match);
    others.path += "*";
    entered_ = Entered{path + "/", std::move(others)};
    return false;
  }
  if (!is_inside) {
    skipped.push_back(*std::move(match));
  } else if (!entered_->is_listed) {
    skipped.push_back(entered_->others);
    entered_->is_listed = true;
  }
  return true;
}

}  // namespace lockstep::snapshot
