#pragma once
// Paths of Lockstep's own files in every container.

namespace lockstep {

// With `--probe` it reports what the image has, with `--nothing` it does nothing, so the image
// needs no other program for either.
inline constexpr char kSpawnInside[] = "/.lockstep/lockstep-spawn";
// The folder of the runner's socket.
inline constexpr char kRunInside[] = "/.lockstep/run";

}  // namespace lockstep
