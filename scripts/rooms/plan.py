"""The real changes of knot.md for simulate.py: {new header: ({old header: [names]}, what it includes)}."""
C = "launcher/core/"
TAKE = {
    # -- the core
    C + "base/step.h": ({C + "core.h": ["Step", "NodeNews", "Heard"]},
                        [C + "base/action.h", "launcher/state/facts/fact.h"]),
    C + "base/caller.h": ({C + "access/authority.h": ["Nobody", "LauncherItself", "UserCaller", "NodeCaller",
                                                      "AttemptCaller", "Caller", "name_of", "owner_of"]}, []),
    C + "base/keys_file.h": ({C + "access/user_changes.h": ["KeysFile"]}, []),
    C + "base/cluster.h": ({C + "placement/placement.h": ["Cluster"]},
                           [C + "base/config.h", C + "memory/liveness.h", C + "memory/machine_calls.h",
                            C + "memory/machine_samples.h", "launcher/state/state.h"]),
    C + "placement/shape.h": ({C + "placement/placement.h": ["Shape", "shape_of", "describe", "KeptNodes"]},
                              [C + "base/cluster.h", "launcher/state/absences.h"]),
    "launcher/state/absences.h": ({C + "attempts/retry.h": ["nodes_without"]}, ["launcher/state/state.h"]),
    C + "base/sizes.h": ({C + "targets/size_requests.h": ["size_called", "targets_of_size"]},
                         [C + "base/config.h", "launcher/state/state.h"]),
    C + "placement/new_machines.h": ({C + "nodes/size_check.h": ["size_of_target", "excludes_new_machines", "shortfall",
                                                                "kMemoryTolerance"]},
                                     [C + "base/sizes.h", C + "placement/shape.h", C + "placement/host_labels.h"]),
    C + "placement/machine_end.h": ({C + "machines/life.h": ["lifetime_of_new", "ends_before", "outlives_machines",
                                                            "ended_with_machine", "notice_before_end", "next_end"]},
                                    [C + "placement/shape.h"]),
    C + "placement/wait_for_machines.h": ({C + "machines/scaling.h": ["waits_for_machines"]},
                                          [C + "placement/new_machines.h", C + "placement/machine_end.h",
                                           C + "placement/node_fit.h", C + "base/counted.h"]),
    C + "placement/instance_off.h": ({C + "machines/instances.h": ["why_off"]},
                                     [C + "base/cluster.h", C + "base/next_fire.h"]),
    C + "queue/wake.h": ({C + "nodes/health.h": ["usability_changed"]}, [C + "base/context.h", C + "queue/scheduler.h"]),
    C + "base/no_such.h": ({C + "targets/compute_requests.h": ["no_such_compute"]}, ["launcher/state/state.h"]),
    C + "nodes/tokens.h": ({C + "machines/changes.h": ["forget_tokens"], C + "nodes/nodes.h": ["token_id"]},
                           [C + "base/context.h"]),
    C + "jobs/cancel.h": ({C + "jobs/requests.h": ["cancel", "known_job"]}, [C + "base/context.h"]),
    C + "jobs/refusals.h": ({C + "jobs/requests.h": ["refusals_of_nodes", "first_checkpoint"],
                             C + "pipelines/pipelines.h": ["refusals_of_steps"]},
                            [C + "placement/placement.h", C + "queue/quotas.h", C + "jobs/target_choice.h",
                             C + "base/no_such.h", C + "base/refusal.h", C + "access/users.h", C + "attempts/retry.h",
                             C + "jobs/child_nodes.h"]),
    C + "names/objects.h": ({C + "names/name_requests.h": ["object_of", "seen_name", "name_to_manage", "NameClaim",
                                                          "claim_to_register"],
                             C + "names/asset_requests.h": ["object_of", "may_see", "seen_asset", "sees_asset_with",
                                                           "no_such_asset", "no_such_version"],
                             C + "names/environment_requests.h": ["object_of", "may_see", "project_of_new",
                                                                 "sees_context"]},
                            [C + "base/context.h", C + "access/users.h"]),
    C + "nodes/machine_claims.h": ({C + "nodes/shared_machine.h": ["claims_anothers", "oversold", "refused_as_second"]},
                                   [C + "base/context.h"]),
    C + "explain/events.h": ({"launcher/state/event.h": ["events_of", "owner_of_notes"]},
                             ["launcher/state/state.h", C + "attempts/verdict.h"]),
    # -- the domain
    "common/grammar/job_name.h": ({"common/domain/job/spec.h": ["validate_job_name"]}, []),
    "common/domain/environment/docker_limits.h": ({"common/domain/job/spec.h": ["kMaxDockerArgs", "kMaxDockerArgsBytes",
                                                                             "kMinShmSize"]}, []),
    "common/domain/job/secret_references.h": ({"common/domain/people/secrets.h": ["validate_secrets"]},
                                              ["common/domain/job/spec.h", "common/domain/people/secrets.h"]),
    "common/domain/job/validate.h": ({}, ["common/domain/job/spec.h", "common/domain/job/pipeline.h",
                                          "common/domain/job/secret_references.h", "common/domain/environment/docker_args.h"]),
    "common/domain/data/output_name.h": ({"common/domain/data/outputs.h": ["valid_output_name", "kReservedFolder"]}, []),
    "common/domain/targets/local_time.h": ({"common/domain/targets/schedule.h": ["LocalTime"]}, []),
    "common/domain/targets/node_source.h": ({"common/domain/targets/compute.h": ["NodeSource"]}, []),
    # -- io, snapshot, wire
    "common/snapshot/capture/options.h": ({"common/snapshot/capture/capture.h": [
        "CaptureOptions", "CaptureReport", "SkippedPath", "FollowedLink", "KeptLink", "LowerTree", "Links",
        "kMostHoles"]}, ["common/snapshot/capture/content_taker.h", "common/snapshot/stat_cache.h",
                         "common/snapshot/manifest.h"]),
    "common/snapshot/capture/scanned.h": ({"common/snapshot/capture/scan.h": [
        "Scan", "ScannedFile", "ScannedFolder", "ScannedLink", "ScanOptions", "Selection"]},
        ["common/snapshot/capture/options.h"]),
    "common/wire/views/usage_codec.h": ({}, ["common/wire/views/views_codec.h", "common/wire/views/metrics_codec.h"]),
    # -- agent, runner
    "runner/core/input.h": ({"runner/core/core.h": ["RankAborted", "RankExited"]}, []),
    "agent/workspace/blob_source.h": ({"agent/workspace/workspace.h": ["BlobSource"]}, []),
    # -- launcher
    "launcher/cli/text/phrases.h": ({"launcher/cli/text/view_text.h": ["archived_text", "ranges_in_words"]}, []),
    "launcher/cli/transfer/download_plan.h": ({"launcher/cli/transfer/download.h": ["DownloadPlan", "Tree"]}, []),
    "launcher/compute/machine_name.h": ({"launcher/compute/contract.h": ["check_machine_name"]}, []),
    # -- envs
    "envs/docker/scratch.h": ({"envs/docker/docker.h": ["scratch_of"]}, []),
    "envs/program/carry_out.h": ({"envs/order.h": ["carry_out"]},
                                 ["envs/order.h", "envs/program/providers.h", "envs/conda/pack.h"]),
    "envs/program/providers.h": ({"envs/provider.h": ["provider_of_kind"]},
                                 ["envs/provider.h", "envs/conda/conda.h", "envs/docker/docker.h", "envs/host/host.h",
                                  "envs/venv/venv.h"]),
}
# New headers that are above the old one: this one does not include them.
ABOVE = {C + "explain/events.h", "common/domain/job/secret_references.h", "common/domain/job/validate.h",
         "envs/program/carry_out.h", "envs/program/providers.h", C + "jobs/refusals.h", C + "queue/wake.h",
         C + "nodes/tokens.h", C + "placement/wait_for_machines.h", C + "names/objects.h",
         "common/wire/views/usage_codec.h"}
ADD = []
DROP = []
DROP_AFTER = [
    (C + "base/context.cc", C + "effects.h"),         # emit() calls what its maker gave it
    (C + "base/context.h", C + "queue/scheduler.h"),  # class Scheduler; a reference, owned by the Core
    (C + "base/context.h", C + "placement/placement.h"),
    (C + "base/context.h", C + "core.h"),
    (C + "nodes/agents.h", C + "core.h"),
    (C + "queue/lane.cc", C + "queue/pass.h"),        # the Scheduler runs the pass
    (C + "placement/in_vain.cc", C + "machines/scaling.h"),  # nothing of it is used
    (C + "placement/placement.cc", C + "machines/scaling.h"),
    ("launcher/state/event.cc", "launcher/state/state.h"),
    ("launcher/state/event.cc", C + "attempts/verdict.h"),
    ("launcher/state/event.cc", C + "explain/events.h"),
    ("common/domain/people/secrets.cc", "common/domain/job/spec.h"),
    ("common/domain/people/secrets.cc", "common/domain/job/secret_references.h"),
    ("common/domain/job/spec.cc", "common/domain/job/secret_references.h"),  # validate() is in validate.cc
    ("common/domain/job/spec.cc", "common/domain/job/pipeline.h"),
    ("common/domain/job/array.cc", "common/domain/job/pipeline.h"),          # as_array() is in pipeline.cc
    ("common/domain/job/queue_settings.cc", "common/domain/job/spec.h"),
    ("common/domain/data/outputs.cc", "common/domain/data/asset.h"),         # the check of an asset is asset.cc's
    ("common/io/cgroups/pids_of_jobs.cc", "common/io/cgroups/nursery.h"),    # outside_nursery(): cgroup_layout.h
    ("common/snapshot/capture/links.h", "common/snapshot/capture/capture.h"),
    ("common/snapshot/content/blob_pack.cc", "common/snapshot/content/blob_store.h"),  # kPackedBytes: blob_pack.h
    ("common/snapshot/content/blob_store.h", "common/snapshot/content/walk.h"),
    ("common/snapshot/content/blob_store.cc", "common/snapshot/content/walk.h"),
    ("common/snapshot/live/torn_files.cc", "common/snapshot/live/live_capture.h"),
    ("common/wire/job/job_codec.cc", "common/wire/job/pipeline_codec.h"),
    ("common/wire/views/metrics_codec.cc", "common/wire/views/views_codec.h"),
    ("agent/core/parts.h", "agent/core/core.h"),
    ("runner/core/ranks.h", "runner/core/core.h"),
    ("runner/spawn/namespaces.h", "runner/spawn/client.h"),
    ("agent/workspace/collect/rank_folders.cc", "agent/workspace/collect/collect.h"),
    ("agent/workspace/restore.h", "agent/workspace/workspace.h"),
    ("launcher/files/yaml/tree.cc", "launcher/files/yaml/builder.h"),
    ("launcher/files/yaml/tree.cc", "launcher/files/yaml/errors.h"),
    ("launcher/files/yaml/tree.cc", "launcher/files/yaml/parsed.h"),
    ("launcher/files/yaml/named_text.h", "launcher/files/environment/requirements.h"),
    ("launcher/api/outcome.cc", "launcher/api/service.h"),
    ("launcher/api/asker.h", "launcher/api/outcome.h"),
    ("launcher/api/queries/environment_queries.cc", "launcher/api/queries/queries.h"),
    ("launcher/cli/transfer/download_plan.cc", "launcher/cli/transfer/download.h"),
    ("launcher/daemon/providers/holds.cc", "launcher/daemon/providers/calls.h"),
    ("envs/order.cc", "envs/conda/pack.h"), ("envs/order.cc", "envs/program/carry_out.h"),
    ("envs/provider.cc", "envs/conda/conda.h"), ("envs/provider.cc", "envs/docker/docker.h"),
    ("envs/provider.cc", "envs/host/host.h"), ("envs/provider.cc", "envs/venv/venv.h"),
    ("envs/provider.cc", "envs/program/providers.h"),
    ("envs/conda/pack.h", "envs/conda/conda.h"),
    ("envs/conda/conda_backend.cc", "envs/conda/mamba.h"), ("envs/conda/conda_backend.cc", "envs/conda/rattler.h"),
    ("envs/docker/conda_image.cc", "envs/docker/docker.h"),
]
ADD_AFTER = [
    ("launcher/files/yaml/parsed.cc", "launcher/files/yaml/builder.h"),
    ("launcher/files/yaml/parsed.cc", "launcher/files/yaml/errors.h"),
    ("launcher/files/environment/requirements.h", "launcher/files/yaml/named_text.h"),
    ("launcher/api/outcome.cc", "launcher/api/asker.h"),
    ("common/domain/job/pipeline.h", "common/domain/job/array.h"),
    ("runner/spawn/client.h", "runner/spawn/namespaces.h"),
    ("envs/conda/backends.h", "envs/conda/mamba.h"), ("envs/conda/backends.h", "envs/conda/rattler.h"),
    ("envs/conda/conda.cc", "envs/conda/backends.h"),
]
IMPLEMENTS = {}
HEADERS_DROP_IF_UNUSED = {C + "placement/placement.h"}
# Private headers are parts of their unit.
UNIT = {
    "common/io/net/transport_internal": "common/io/net/transport",
    "common/transfer/swarm_impl": "common/transfer/swarm",
    "common/snapshot/content/blob_store_impl": "common/snapshot/content/blob_store",
    "agent/core/impl": "agent/core/core",
    "runner/core/impl": "runner/core/core",
}
