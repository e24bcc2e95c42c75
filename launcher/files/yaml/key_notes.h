#pragma once
// What a key of Azure's job files means here, where that is not quite what it means on Azure; and
// what to write instead of a key that is refused. docs/azure-keys.md is made of it and of keys.h.

#include <span>
#include <string_view>

namespace lockstep::spec {

struct KeyNote {
  std::string_view path;  // as in keys.h
  std::string_view words;
};

std::span<const KeyNote> key_notes();
// "" for a key without a note.
std::string_view note_of(std::string_view path);

}  // namespace lockstep::spec
