#pragma once
// CRC-32C (Castagnoli's polynomial), as TFRecord files have it.

#include <cstdint>
#include <string_view>

namespace lockstep::metrics {

std::uint32_t crc32c(std::string_view bytes);

// TFRecord files hold checksums in this form, because a checksum of bytes that contain checksums
// proves less (tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details").
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace lockstep::metrics
