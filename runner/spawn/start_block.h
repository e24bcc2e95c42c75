#pragma once
// The argument block of one rank, as lockstep-spawn reads it: pointers into a mapped memfd. map()
// checks the block, so that no access later reads past its end. It owns the mapping.

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "runner/spawn/protocol.h"

namespace lockstep::spawn {

class MappedBlock {
 public:
  MappedBlock() = default;
  ~MappedBlock();
  MappedBlock(const MappedBlock&) = delete;
  MappedBlock& operator=(const MappedBlock&) = delete;

  // Maps and checks the memfd; returns 0 or an errno. EBADMSG: it is not a valid argument block.
  int map(int fd);

  const StartBlock& head() const { return *head_; }
  const gid_t* gids() const { return gids_; }
  const int* cpus() const { return cpus_; }
  const RlimitEntry* rlimits() const { return rlimits_; }
  const char* program() const { return program_; }
  const char* path() const { return path_; }
  const char* cwd() const { return cwd_; }
  char* const* argv() const { return argv_.data(); }
  char* const* envp() const { return envp_.data(); }
  const std::vector<char*>& cgroups() const { return cgroups_; }

 private:
  bool parse();

  void* base_ = nullptr;
  std::size_t size_ = 0;
  const StartBlock* head_ = nullptr;
  const gid_t* gids_ = nullptr;
  const int* cpus_ = nullptr;
  const RlimitEntry* rlimits_ = nullptr;
  const char* program_ = nullptr;
  const char* path_ = nullptr;
  const char* cwd_ = nullptr;
  std::vector<char*> argv_, envp_, cgroups_;
};

}  // namespace lockstep::spawn
