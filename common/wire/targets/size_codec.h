#pragma once
// Sizes on the wire. Journals also use the encoding of Size.

#include "common/domain/targets/size.h"
#include "common/wire/fields.h"
#include "proto/size.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::SizeSeries& from, SizeSeries* to);
Status from_wire(const SizeSeries& from, lockstep::SizeSeries* to);
void to_wire(const lockstep::Size& from, Size* to);
Status from_wire(const Size& from, lockstep::Size* to);
void to_wire(const lockstep::SizeView& from, SizeView* to);
Status from_wire(const SizeView& from, lockstep::SizeView* to);

void to_wire(const lockstep::DefineSizes& from, DefineSizes* to);
Status from_wire(const DefineSizes& from, lockstep::DefineSizes* to);
void to_wire(const lockstep::RemoveSize& from, RemoveSize* to);
Status from_wire(const RemoveSize& from, lockstep::RemoveSize* to);
void to_wire(const lockstep::GrantSize& from, GrantSize* to);
Status from_wire(const GrantSize& from, lockstep::GrantSize* to);
void to_wire(const lockstep::ListSizes& from, ListSizes* to);
Status from_wire(const ListSizes& from, lockstep::ListSizes* to);
void to_wire(const lockstep::SizesReply& from, SizesReply* to);
Status from_wire(const SizesReply& from, lockstep::SizesReply* to);

}  // namespace lockstep::pb
