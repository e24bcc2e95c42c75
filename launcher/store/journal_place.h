#pragma once
// Finds the byte offset of a row in a journal's file, for error messages about a damaged one. It
// reads the file without SQLite and validates all that it reads.
//
// Source of the format: https://www.sqlite.org/fileformat2.html#b_tree_pages

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::launcher {

// The byte at which row `sequence` begins. If the row is missing: the byte at which the page begins
// that should hold it. nullopt when neither is known (no file, or its newest pages are in the WAL).
std::optional<std::uint64_t> place_of_row(const std::string& path, std::uint64_t sequence);

// The byte at which a page of the file begins; nullopt when the file's page size is unreadable.
std::optional<std::uint64_t> place_of_page(const std::string& path, std::uint64_t page);

}  // namespace lockstep::launcher
