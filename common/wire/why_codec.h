#pragma once
// Reasons, to and from proto/why.proto. See fields.h.

#include "common/domain/why/why.h"
#include "common/wire/fields.h"
#include "proto/why.pb.h"

namespace lockstep::pb {

// Texts that are too long lose their middle.
void to_wire(const lockstep::Why& from, Why* to);
// Refuses what exceeds the bounds of why/data.h. A reason that this version does not know is kept.
Status from_wire(const Why& from, lockstep::Why* to);

// From the field that earlier versions write as a text, and the one that is written now.
Status read_why(const std::string& text, bool has_data, const Why& data, const char* field,
                lockstep::Why* to);
using WhyDataList = google::protobuf::RepeatedPtrField<Why>;
Status read_whys(const TextList& texts, const WhyDataList& data, std::size_t max_count,
                 const char* field, std::vector<lockstep::Why>* to);

}  // namespace lockstep::pb
