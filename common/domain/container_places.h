#pragma once
// What every container holds of Lockstep's, and where.

namespace lockstep {

// `--probe` says what the image has, `--nothing` does nothing: there need be no other program.
inline constexpr char kSpawnInside[] = "/.lockstep/lockstep-spawn";
// The folder of the runner's socket.
inline constexpr char kRunInside[] = "/.lockstep/run";

}  // namespace lockstep
