// A table of queues: nodes and jobs, and what `lockstep job explain` says of each job that waits.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

struct NodeOf {
  const char* name;
  int cpus = 4, gpus = 0;
};

struct JobOf {
  const char* name;
  int nodes = 1;
  int minutes = 0;  // limits.timeout; 0: none
  const char* user = "ann";
  Priority priority = Priority::medium;
  int cpus = 0;  // on each node, with 1 GiB of memory and no gpus; 0: whole nodes
  std::vector<After> after = {};
};

struct Scenario {
  const char* name;
  std::vector<NodeOf> nodes;
  std::vector<JobOf> jobs;
  const char* expected;  // of each job, where it runs or the explanation
};

JobSpec spec_of(const JobOf& job) {
  JobSpec spec = job_spec(job.name, job.nodes);
  spec.submitter = job.user;
  spec.queue.priority = job.priority;
  spec.queue.after = job.after;
  if (job.minutes != 0) spec.timeout = minutes(job.minutes);
  if (job.cpus != 0) {
    spec.resources.cpus = job.cpus;
    spec.resources.memory = gibibytes(1);
    spec.resources.gpus = 0;
  }
  return spec;
}

std::string told(const Scenario& scenario) {
  TestLauncher launcher;
  std::map<NodeId, std::string> names;
  for (const NodeOf& node : scenario.nodes)
    names[launcher.join(node.name, inventory(node.cpus, gibibytes(8), node.gpus)).id] = node.name;
  for (const JobOf& job : scenario.jobs) launcher.submit(spec_of(job));
  std::string text;
  for (const JobOf& job : scenario.jobs) {
    const JobId id{job.name};
    text += std::string("\n") + job.name + ":";
    if (launcher.status(id) == JobStatus::preparing) {
      for (const NodeId node : launcher.placed_on(attempt(id))) text += " " + names[node];
      continue;
    }
    const ExplainView explanation = launcher.explain(id);
    for (const std::string& line : explanation.lines) text += "\n  " + line;
  }
  return text + "\n";
}

const Scenario kScenarios[] = {
    {"a node that is idle is kept for the head",
     {{"n1"}, {"n2"}},
     {{"first", 1, 30}, {"pair", 2}, {"long", 1}, {"slow", 1, 60}, {"quick", 1, 20}},
     R"(
first: n1
pair:
  position 1 in the queue (priority medium): waits for 2 nodes: 1 of them is free now (n1 is held as a whole by job 'first'); starts at 2023-11-14T22:43:40.000Z at the latest, when job 'first' reaches its time limit
  asks for 2 nodes; target local:
    n1 is held as a whole by job 'first'
    n2 is held as a whole by job 'quick'
long:
  position 2 in the queue (priority medium): waits behind job 'pair', which waits for 2 nodes: 1 of them is free now (n1 is held as a whole by job 'first'); starts at 2023-11-14T22:43:40.000Z at the latest, when job 'first' reaches its time limit
  ahead of it: job 'pair'
  asks for 1 node; target local:
    n1 is held as a whole by job 'first'
    n2 is held as a whole by job 'quick'
slow:
  position 3 in the queue (priority medium): waits behind job 'pair', which waits for 2 nodes: 1 of them is free now (n1 is held as a whole by job 'first'); starts at 2023-11-14T22:43:40.000Z at the latest, when job 'first' reaches its time limit
  ahead of it: job 'pair', job 'long'
  asks for 1 node; target local:
    n1 is held as a whole by job 'first'
    n2 is held as a whole by job 'quick'
quick: n2
)"},
    {"priority goes before order, and before the head of a lower one",
     {{"n1"}},
     {{"running"},
      {"low", 1, 0, "ann", Priority::low},
      {"medium"},
      {"high", 1, 0, "bob", Priority::high}},
     R"(
running: n1
low:
  position 3 in the queue (priority low): waits behind job 'high', which waits for 1 node: 0 of them are free now (n1 is held as a whole by job 'running'); it is not known when it starts: job 'running' has no limits.timeout
  ahead of it: job 'high' (priority high), job 'medium' (priority medium)
  asks for 1 node; target local:
    n1 is held as a whole by job 'running'
medium:
  position 2 in the queue (priority medium): waits behind job 'high', which waits for 1 node: 0 of them are free now (n1 is held as a whole by job 'running'); it is not known when it starts: job 'running' has no limits.timeout
  ahead of it: job 'high' (priority high)
  asks for 1 node; target local:
    n1 is held as a whole by job 'running'
high:
  position 1 in the queue (priority high): waits for 1 node: 0 of them are free now (n1 is held as a whole by job 'running'); it is not known when it starts: job 'running' has no limits.timeout
  its nodes are kept until 2023-11-15T22:13:20.000Z, then they are open to other users for a time, as nobody knows when it can start
  asks for 1 node; target local:
    n1 is held as a whole by job 'running'
)"},
    {"the user with the smaller share goes first",
     {{"n1"}, {"n2"}, {"n3"}},
     {{"a1", 1, 10},
      {"a2", 1, 10},
      {"b1", 1, 10, "bob"},
      {"wide", 3, 0, "ann"},
      {"a3"},
      {"b2", 1, 0, "bob"}},
     R"(
a1: n1
a2: n2
b1: n3
wide:
  position 1 in the queue (priority medium): waits for 3 nodes: 0 of them are free now (n1 is held as a whole by job 'a1'; n2 is held as a whole by job 'a2'; n3 is held as a whole by job 'b1'); starts at 2023-11-14T22:23:40.000Z at the latest, when job 'b1' reaches its time limit
  asks for 3 nodes; target local:
    n1 is held as a whole by job 'a1'
    n2 is held as a whole by job 'a2'
    n3 is held as a whole by job 'b1'
a3:
  position 3 in the queue (priority medium): waits behind job 'wide', which waits for 3 nodes: 0 of them are free now (n1 is held as a whole by job 'a1'; n2 is held as a whole by job 'a2'; n3 is held as a whole by job 'b1'); starts at 2023-11-14T22:23:40.000Z at the latest, when job 'b1' reaches its time limit
  ahead of it: job 'wide', job 'b2'
  user ann has a share of 0.67 of target 'local' (what its jobs hold, and its recent use); within priority medium 1 user with a smaller share goes first
  asks for 1 node; target local:
    n1 is held as a whole by job 'a1'
    n2 is held as a whole by job 'a2'
    n3 is held as a whole by job 'b1'
b2:
  position 2 in the queue (priority medium): waits behind job 'wide', which waits for 3 nodes: 0 of them are free now (n1 is held as a whole by job 'a1'; n2 is held as a whole by job 'a2'; n3 is held as a whole by job 'b1'); starts at 2023-11-14T22:23:40.000Z at the latest, when job 'b1' reaches its time limit
  ahead of it: job 'wide'
  user bob has a share of 0.33 of target 'local' (what its jobs hold, and its recent use); within priority medium no user with a smaller share waits
  asks for 1 node; target local:
    n1 is held as a whole by job 'a1'
    n2 is held as a whole by job 'a2'
    n3 is held as a whole by job 'b1'
)"},
    {"a part of a node is kept, the rest is used",
     {{"n1", 8}},
     {{"running", 1, 60, "ann", Priority::medium, 4},
      {"wide", 1, 0, "ann", Priority::medium, 6},
      {"two", 1, 0, "bob", Priority::medium, 2},
      {"more", 1, 0, "bob", Priority::medium, 1}},
     R"(
running: n1
wide:
  position 1 in the queue (priority medium): waits for 1 node with 6 cpus, 1.0 GiB memory, 0 gpus: 0 of them are free now (n1 has 4 of its 8 cpus free, 6 asked for (running.1 runs there)); starts at 2023-11-14T23:13:40.000Z at the latest, when job 'running' reaches its time limit
  asks for 1 node with 6 cpus, 1.0 GiB memory, 0 gpus; target local:
    n1 has 2 of its 8 cpus free, 6 asked for (running.1 runs there)
two: n1
more:
  position 2 in the queue (priority medium): waits behind job 'wide', which waits for 1 node with 6 cpus, 1.0 GiB memory, 0 gpus: 0 of them are free now (n1 has 4 of its 8 cpus free, 6 asked for (running.1 runs there)); starts at 2023-11-14T23:13:40.000Z at the latest, when job 'running' reaches its time limit
  ahead of it: job 'wide'
  user bob has a share of 0.25 of target 'local' (what its jobs hold, and its recent use); within priority medium no user with a smaller share waits
  with a limits.timeout of at most 1h00m it could start before job 'wide'
  asks for 1 node with 1 cpu, 1.0 GiB memory, 0 gpus; target local:
    n1 is kept for job 'wide'
)"},
    {"what no node can take holds nobody back, and neither does what waits for other jobs",
     {{"n1"}},
     {{"running"},
      {"huge", 1, 0, "ann", Priority::high, 64},
      {"next", 1, 0, "ann", Priority::high, 0, {{JobId("running"), AfterWhen::completed}}},
      {"last"}},
     R"(
running: n1
huge:
  position 1 in the queue (priority high): needs 1 node with 64 cpus, 1.0 GiB memory, 0 gpus, but 0 of the 1 nodes of target 'local' can take it (n1 has 4 cpus, 64 asked for); no node of target 'local' can ever take it; to change that, ask for less (--cpus; lockstep.resources.cpus in a job file), or join nodes that have it: `lockstep node token --compute local`
  asks for 1 node with 64 cpus, 1.0 GiB memory, 0 gpus; target local:
    n1 has 4 cpus, 64 asked for
next:
  waits for job 'running' to complete
last:
  position 2 in the queue (priority medium): waits for 1 node: 0 of them are free now (n1 is held as a whole by job 'running'); it is not known when it starts: job 'running' has no limits.timeout
  asks for 1 node; target local:
    n1 is held as a whole by job 'running'
)"},
};

TEST(QueueTable, SaysWhyEachJobWaits) {
  for (const Scenario& scenario : kScenarios)
    EXPECT_EQ(told(scenario), scenario.expected) << scenario.name;
}

}  // namespace
}  // namespace lockstep::launcher
