#pragma once
// How the files of two trees differ, without looking into folders that both have. Its only I/O is
// through the given function.

#include <functional>
#include <optional>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/views.h"

namespace lockstep::snapshot {

// The number of compared entries of folders that differ after which the count ends, with
// FileChanges::more.
inline constexpr std::uint64_t kMaxComparedEntries = 1'000'000;

// Counts differences. A file or symlink that only `is` has was added; one that differs in content,
// target or mode was changed; a folder's own mode does not count. `was`, `is`: roots; nullopt: an
// empty tree. `read` returns a directory object; its errors end the comparison.
Result<FileChanges> tree_difference(const std::optional<Digest>& was,
                                    const std::optional<Digest>& is,
                                    const std::function<Result<std::string>(const Digest&)>& read,
                                    std::uint64_t max_entries = kMaxComparedEntries);

}  // namespace lockstep::snapshot
