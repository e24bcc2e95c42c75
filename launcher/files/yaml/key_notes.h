#pragma once
// Notes on keys of Azure's job files that mean something else here, and on what to write instead of
// a refused key. docs/azure-keys.md is generated from this file and keys.h.

#include <span>
#include <string_view>

namespace lockstep::spec {

struct KeyNote {
  std::string_view path;  // the same form as in keys.h
  std::string_view words;
};

std::span<const KeyNote> key_notes();
// "" for a key without a note.
std::string_view note_of(std::string_view path);

}  // namespace lockstep::spec
