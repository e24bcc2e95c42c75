#include "launcher/compute/slurm/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"
#include "launcher/compute/agent_output.h"
#include "launcher/compute/bundle.h"

namespace lockstep::compute::slurm {
namespace {

constexpr Bytes kMostLog = mebibytes(4);

std::string file_name(std::string machine) {
  std::replace(machine.begin(), machine.end(), ':', '-');
  return machine;
}

}  // namespace

Place::Place(const Request& request, const Settings& settings)
    : directory_(
          fmt::format("{}/lockstep-{}-{}", settings.directory, request.launcher, request.target)),
      tag_(request.launcher + " " + request.target + "\n"),
      lock_(request.state + "/lock") {
  for (const compute::Machine& machine : request.machines) names_.push_back(machine.name);
}

std::string Place::machine(const std::string& name) const {
  return directory_ + "/machines/" + file_name(name);
}

// Nodes run the bundle in this folder, so it must be ours alone. The tag is not secret, so others
// could have made the folder first.
Status Place::expect_ours() const {
  if (Status own = io::expect_unchangeable_by_others(directory_); !own)
    return make_error(
        ErrorCode::conflict,
        own.error().message + "; remove it if it is not yours, or choose another `directory`");
  const auto tag = io::read_regular_file(directory_ + "/tag", kibibytes(4));
  if (tag && *tag == tag_) return {};
  return make_error(ErrorCode::conflict, directory_ +
                                             " was not created by this launcher; remove it, or "
                                             "choose another `directory`");
}

// Prepares the folder. One call at a time, because removing the last machine also removes the
// bundle.
Status Place::prepare(const std::string& archive, const std::string& digest) const {
  TRY_ASSIGN(const io::FileLock lock, io::FileLock::acquire(lock_));
  const bool is_new = !io::exists(directory_);
  if (is_new) TRY(io::make_directories(directory_, 0700));
  // The owner is checked after making the folder: another account may have made it first.
  if (is_new && io::expect_unchangeable_by_others(directory_))
    TRY(io::write_file_atomically(directory_ + "/tag", tag_, 0600));
  TRY(expect_ours());
  for (const std::string& name : names_) TRY(io::make_directories(machine(name), 0700));
  return unpack_bundle(archive, digest, directory_);
}

Status Place::put_token(const compute::Machine& machine) const {
  return io::write_file_atomically(token(machine.name), machine.token + "\n", 0600);
}

bool Place::has_joined(const std::string& name, const std::string& job) const {
  const auto text = io::read_regular_file(log(name, job), kMostLog);
  if (!text) return false;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (says_joined(line)) return true;
  return false;
}

std::string Place::last_words(const std::string& name, const std::string& job) const {
  const auto text = io::read_regular_file(log(name, job), kMostLog);
  return text ? last_line(*text) : "";
}

Status Place::remove(const std::string& name) const {
  TRY_ASSIGN(const io::FileLock lock, io::FileLock::acquire(lock_));
  if (!io::exists(directory_)) return {};
  TRY(expect_ours());
  TRY(io::remove_tree(machine(name)));
  // The folder is empty when the last machine is removed.
  if (io::disk::rmdir((directory_ + "/machines").c_str()) != 0) return {};
  return io::remove_tree(directory_);
}

}  // namespace lockstep::compute::slurm
