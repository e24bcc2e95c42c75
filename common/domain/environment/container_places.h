#pragma once
// The paths in every container at which Lockstep's own files are mounted.

namespace lockstep {

// The program lockstep-spawn. `--probe` reports the image's programs; `--nothing` does nothing, so
// that a container can be run from an image that has no programs.
inline constexpr char kSpawnInside[] = "/.lockstep/lockstep-spawn";
// The folder that holds the runner's socket.
inline constexpr char kRunInside[] = "/.lockstep/run";
// Where a container has the node's bundle, so that its ranks have the command `lockstep`. The
// bundle's programs bring their libraries; programs of a plain build need libraries that the image
// may not have.
inline constexpr char kBundleInside[] = "/.lockstep/bundle";

}  // namespace lockstep
