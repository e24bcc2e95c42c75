#pragma once
// The texts of a node's notes: what it cannot do for a job, and which limits the ranks reached.

#include <string>

#include "common/domain/why/ranks/notes.h"

namespace lockstep::words {

std::string say(const MemoryIsNotLimited& reason);
std::string say(const EngineLimitsNoMemory& reason);
std::string say(const RankIsOutsideCgroup& reason);
std::string say(const ProcessesAreNotLimited& reason);
std::string say(const ForksRefused& reason);
std::string say(const ForksRefusedInContainer& reason);
std::string say(const ForksRefusedOnNode& reason);
std::string say(const LogsAreCut& reason);
std::string say(const FolderDiffers& reason);
std::string say(const SettingIsMistaken& reason);
std::string say(const CoreFileIsKept& reason);
std::string say(const NoCoreFile& reason);
std::string say(const CoresGoElsewhere& reason);
std::string say(const CoreToolNotStarted& reason);
std::string say(const CoreWasNotRead& reason);
std::string say(const CoreFileNotFound& reason);
std::string say(const CoreFileIsTooLarge& reason);
std::string say(const CoreFileNotWritten& reason);
std::string say(const NoStackTool& reason);

}  // namespace lockstep::words
