#include "launcher/exposition/families.h"

namespace lockstep::launcher {
namespace {

using Type = MetricType;
using Numbers = ClusterNumbers;
using Writer = ExpositionWriter;

// By way of milliseconds, which a double has exactly.
double in_seconds(Instant time) { return static_cast<double>(time.ns / 1'000'000) / 1e3; }

}  // namespace

std::span<const ExposedFamily> families_of_launcher() {
  static const std::vector<ExposedFamily> kFamilies{
      {{"lockstep_build", Type::info, "", {"version"}, "Version of the launcher"},
       [](const Numbers& n, Writer& w) { w.add({n.launcher.version}, 1); }},
      {{"process_start_time_seconds",
        Type::gauge,
        "seconds",
        {},
        "When the launcher started, since 1970"},
       [](const Numbers& n, Writer& w) { w.add({}, in_seconds(n.process.started)); }},
      {{"process_cpu_seconds", Type::counter, "seconds", {}, "Cpu time that the launcher has used"},
       [](const Numbers& n, Writer& w) { w.add({}, n.process.cpu_seconds); }},
      {{"process_resident_memory_bytes", Type::gauge, "bytes", {}, "Memory of the launcher"},
       [](const Numbers& n, Writer& w) { w.add({}, n.process.resident_memory.count); }},
      {{"process_open_fds", Type::gauge, "", {}, "Open files and sockets of the launcher"},
       [](const Numbers& n, Writer& w) { w.add({}, n.process.open_files); }},
      {{"process_max_fds", Type::gauge, "", {}, "Most files and sockets that it may have open"},
       [](const Numbers& n, Writer& w) { w.add({}, n.process.most_files); }},
      {{"lockstep_loop_turn_seconds",
        Type::histogram,
        "seconds",
        {},
        "How long a turn of the event loop took"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.loop_seconds); }},
      {{"lockstep_loop_lag_seconds",
        Type::histogram,
        "seconds",
        {},
        "How much later than asked for the loop came to a timer"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.loop_lag_seconds); }},
      {{"lockstep_journal_write_seconds",
        Type::histogram,
        "seconds",
        {},
        "How long a transaction of the journal took, with its fsync"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.journal_write_seconds); }},
      {{"lockstep_journal_facts", Type::counter, "", {}, "Facts written to the journal"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.facts); }},
      {{"lockstep_journal_bytes", Type::gauge, "bytes", {}, "Size of the journal on disk"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.journal_size.count); }},
      {{"lockstep_queue_length",
        Type::gauge,
        "",
        {"queue"},
        "What waits in a queue inside of the launcher"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [queue, length] : n.launcher.queues) w.add({queue}, length);
       }},
      {{"lockstep_connections",
        Type::gauge,
        "",
        {"peer"},
        "Connections, by who is at the other end"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [peer, count] : n.launcher.connections) w.add({peer}, count);
       }},
      {{"lockstep_requests",
        Type::counter,
        "",
        {"kind", "outcome"},
        "Requests of clients, by kind and by how they were answered"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [request, count] : n.launcher.requests)
           w.add({request.first, request.second}, count);
       }},
      {{"lockstep_audit_entries", Type::counter, "", {}, "Entries written to the audit log"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.audit_entries); }},
      {{"lockstep_audit_lag_seconds",
        Type::gauge,
        "seconds",
        {},
        "Age of the oldest entry of the audit log that is not on disk"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.audit_lag_seconds); }},
      {{"lockstep_blob_stored_bytes", Type::gauge, "bytes", {}, "Size of the blob store on disk"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.blobs.count); }},
      {{"lockstep_blob_received_bytes",
        Type::counter,
        "bytes",
        {},
        "Bytes of blobs that were sent to the launcher"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.blob_bytes_received); }},
      {{"lockstep_blob_sent_bytes",
        Type::counter,
        "bytes",
        {"peer"},
        "Bytes of blobs that the launcher sent, by to whom"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [peer, bytes] : n.launcher.blob_bytes_sent) w.add({peer}, bytes);
       }},
      {{"lockstep_log_received_bytes", Type::counter, "bytes", {}, "Bytes of logs that nodes sent"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.log_bytes_received); }},
      {{"lockstep_disk_free_bytes",
        Type::gauge,
        "bytes",
        {},
        "Free space of the file system that holds the launcher's home"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.disk_free.count); }},
      {{"lockstep_takes_work",
        Type::gauge,
        "",
        {},
        "1 if the launcher takes new work, 0 if it lacks space for it"},
       [](const Numbers& n, Writer& w) { w.add({}, n.launcher.takes_work ? 1 : 0); }},
      {{"lockstep_schedules", Type::gauge, "", {"state"}, "Schedules of jobs, by state"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [state, schedules] : n.launcher.schedules) w.add({state}, schedules);
       }},
      {{"lockstep_schedule_times",
        Type::counter,
        "",
        {"outcome"},
        "Times of schedules, by what became of them"},
       [](const Numbers& n, Writer& w) {
         for (const auto& [outcome, times] : n.launcher.schedule_runs) w.add({outcome}, times);
       }},
  };
  return kFamilies;
}

}  // namespace lockstep::launcher
