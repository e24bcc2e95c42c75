#pragma once
// Reasons, to and from proto/why.proto. See fields.h.

#include "common/domain/why/why.h"
#include "common/wire/fields.h"
#include "proto/why.pb.h"

namespace lockstep::pb {

// Texts that are too long lose their middle; what exceeds the bounds of why/data.h is shortened:
// lists lose their last items first; if that is not enough, lists and records go.
void to_wire(const lockstep::Why& from, Why* to);
// Refuses what exceeds the bounds of why/data.h. A reason that this version does not know is kept.
Status from_wire(const Why& from, lockstep::Why* to);

// The text of a reason that has a field of its own beside the one for earlier versions. Text of a
// Told goes into the field that those read. `data` gives the other field.
const std::string* told_text(const lockstep::Why& why);  // null: it has more than a text
template <typename Data>
void write_why(const lockstep::Why& from, std::string* text, const Data& data) {
  if (const std::string* told = told_text(from))
    *text = fitting_text(*told);
  else if (from)
    to_wire(from, data());
}
Status read_why(const std::string& text, bool has_data, const Why& data, const char* field,
                lockstep::Why* to);
// The texts of a list in which all reasons are Told; null: one has more.
using WhyDataList = google::protobuf::RepeatedPtrField<Why>;
void write_whys(const std::vector<lockstep::Why>& from, TextList* texts, WhyDataList* data);
Status read_whys(const TextList& texts, const WhyDataList& data, std::size_t max_count,
                 const char* field, std::vector<lockstep::Why>* to);

}  // namespace lockstep::pb
