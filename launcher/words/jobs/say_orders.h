#pragma once
// The texts of orders: who canceled a job, and why an ended job is deleted.

#include <string>

#include "common/domain/why/jobs/orders.h"

namespace lockstep::words {

std::string say(const JobCanceled& reason);
std::string say(const AskedBy& reason);
std::string say(const AskedByAttempt& reason);
std::string say(const ParentCanceled& reason);
std::string say(const ParentEnded& reason);
std::string say(const LauncherShutsDown&);
std::string say(const PipelineFailed& reason);
std::string say(const DeletedBy& reason);
std::string say(const KeptLongEnough& reason);
std::string say(const TooMuchKept& reason);
std::string say(const QuotaOfKept& reason);
std::string say(const PipelineDeleted&);

}  // namespace lockstep::words
