#pragma once
// The launcher's views, to and from proto/views.proto. See fields.h.

#include "common/domain/messages/views.h"
#include "common/wire/fields.h"
#include "proto/views.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::PartView& from, PartView* to);
Status from_wire(const PartView& from, lockstep::PartView* to);
void to_wire(const lockstep::AttemptView& from, AttemptView* to);
Status from_wire(const AttemptView& from, lockstep::AttemptView* to);
void to_wire(const lockstep::JobView& from, JobView* to);
Status from_wire(const JobView& from, lockstep::JobView* to);
void to_wire(const lockstep::TokenView& from, TokenView* to);
Status from_wire(const TokenView& from, lockstep::TokenView* to);
void to_wire(const lockstep::NodeView& from, NodeView* to);
Status from_wire(const NodeView& from, lockstep::NodeView* to);
void to_wire(const lockstep::ExplainView& from, ExplainView* to);
Status from_wire(const ExplainView& from, lockstep::ExplainView* to);
void to_wire(const lockstep::JobEvent& from, JobEvent* to);
Status from_wire(const JobEvent& from, lockstep::JobEvent* to);
void to_wire(const lockstep::LauncherStatus& from, LauncherStatus* to);
Status from_wire(const LauncherStatus& from, lockstep::LauncherStatus* to);

}  // namespace lockstep::pb
