#pragma once
// Where in a journal's file a row lies, for the one who has to look at a damaged one. It reads the
// file itself, and believes nothing that it reads.
//
// Source of the form: https://www.sqlite.org/fileformat2.html#b_tree_pages

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::launcher {

// The byte at which row `sequence` begins; where the page begins that should hold it, when it is
// not there; nullopt when that cannot be said (no file, or its newest pages are in the WAL).
std::optional<std::uint64_t> place_of_row(const std::string& path, std::uint64_t sequence);

// The byte at which a page of the file begins; nullopt when the file does not say how large one is.
std::optional<std::uint64_t> place_of_page(const std::string& path, std::uint64_t page);

}  // namespace lockstep::launcher
