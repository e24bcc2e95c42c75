#include <gtest/gtest.h>

#include "launcher/compute/kubernetes/manifest.h"
#include "launcher/compute/kubernetes/names.h"
#include "launcher/compute/kubernetes/pods.h"

namespace lockstep::compute::kubernetes {
namespace {

Request request_of(const std::string& target) {
  Request request;
  request.launcher = "a1b2";
  request.target = target;
  return request;
}

TEST(KubernetesNames, DifferForDifferentMachinesAndAreHostNames) {
  EXPECT_EQ(pod_name(request_of("lab"), "lab-1"), "lockstep-a1b2-lab-lab-1");
  const std::string long_name(100, 'x');
  const std::string names[] = {
      pod_name(request_of("Lab"), "Lab-1"),         pod_name(request_of("lAb"), "lAb-1"),
      pod_name(request_of("lab"), "lab.1"),         pod_name(request_of("lab"), "lab_1"),
      pod_name(request_of("lab"), long_name + "1"), pod_name(request_of("lab"), long_name + "2")};
  for (const std::string& name : names) {
    EXPECT_TRUE(is_dns_label(name)) << name;
    EXPECT_EQ(std::count(std::begin(names), std::end(names), name), 1) << name;
  }
  EXPECT_EQ(host_name("Lab_1."), "lab-1");
  EXPECT_TRUE(check_names(request_of("lab")));
  EXPECT_FALSE(check_names(request_of("lab-")));
}

TEST(KubernetesNames, AreCheckedByTheRulesOfTheApi) {
  for (const char* good : {"a", "a-b", "0"}) EXPECT_TRUE(is_dns_label(good)) << good;
  for (const char* bad : {"", "-a", "a-", "A", "a.b", "a_b"})
    EXPECT_FALSE(is_dns_label(bad)) << bad;
  EXPECT_TRUE(is_dns_subdomain("a.b-c.d"));
  for (const char* bad : {"", ".a", "a.", "a..b", "a/b"})
    EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
  for (const char* good : {"a", "A.b_c", "nvidia.com/gpu"})
    EXPECT_TRUE(is_qualified_name(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a/b/c", "A/b"})
    EXPECT_FALSE(is_qualified_name(bad)) << bad;
  for (const char* good : {"1", "1.5Gi", "500m"}) EXPECT_TRUE(is_quantity(good)) << good;
  for (const char* bad : {"", "Gi", "1..5", ".5", "5.", "-1", "1 Gi", "1x"})
    EXPECT_FALSE(is_quantity(bad)) << bad;
}

std::string pod_json(const std::string& machine, const std::string& spec, const std::string& status,
                     const std::string& more = "") {
  return R"({"metadata": {"name": ")" + pod_name(request_of("lab"), machine) +
         R"(", "uid": "u", "labels": {"lockstep.launcher": "a1b2", "lockstep.target": "lab", )" +
         R"("lockstep.machine": ")" + machine + "\"}" + more + R"(}, "spec": )" + spec +
         R"(, "status": )" + status + "}";
}

Pod read(const std::string& spec, const std::string& status, const std::string& more = "") {
  const auto pods = pods_from(
      request_of("lab"), R"({"items": [)" + pod_json("lab-1", spec, status, more) + "]}", "list");
  return pods && pods->count("lab-1") != 0 ? pods->at("lab-1") : Pod{};
}

TEST(KubernetesPods, AreReadFromWhatTheApiServerSays) {
  const Pod waiting = read("{}", R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
      "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]})");
  EXPECT_EQ(waiting.state, Pod::State::waiting);
  EXPECT_EQ(waiting.reason, "0/3 nodes are available");
  const Pod stuck = read(R"({"nodeName": "n1"})", R"({"phase": "Pending", "initContainerStatuses":
      [{"name": "bundle", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no"}}}],
      "containerStatuses": [{"name": "node", "state": {"waiting": {"reason": "PodInitializing"}}}]})");
  EXPECT_TRUE(stuck.is_stuck);
  EXPECT_EQ(stuck.reason, "ImagePullBackOff: no");
  const std::string running = R"({"phase": "Running", "containerStatuses":
      [{"name": "node", "state": {"running": {}}, "started": true}]})";
  EXPECT_EQ(read(R"({"nodeName": "n1"})", running).state, Pod::State::joined);
  const Pod leaving = read(R"({"nodeName": "n1"})", running, R"(, "deletionTimestamp": "now")");
  EXPECT_EQ(leaving.state, Pod::State::leaving);
  const Pod ended = read(R"({"nodeName": "n1"})", R"({"phase": "Failed", "containerStatuses":
      [{"name": "node", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})");
  EXPECT_EQ(ended.state, Pod::State::ended);
  EXPECT_EQ(ended.reason, "OOMKilled");
}

TEST(KubernetesPods, OneWithADeadlineSaysHowMuchIsLeft) {
  const std::string spec = R"({"nodeName": "n1", "activeDeadlineSeconds": 600})";
  const std::string status = R"({"phase": "Running", "startTime": "2026-01-31T12:00:00Z"})";
  const Pod pod = read(spec, status);
  ASSERT_TRUE(pod.lifetime && pod.started);
  const Instant noon{std::int64_t{1'769'860'800} * 1'000'000'000};
  EXPECT_EQ(*pod.started, noon);
  const auto left = [&](Instant now) {
    const About about = life_of(pod, now);
    return about.size() == 2 ? std::get<std::string>(about[1].second) : "";
  };
  EXPECT_EQ(left(noon + seconds(60)), "540");
  EXPECT_EQ(left(noon + seconds(700)), "0");
  EXPECT_EQ(left(noon - seconds(50)), "600") << "the cluster's clock is ahead";
  EXPECT_TRUE(life_of(read(R"({"nodeName": "n1"})", status), noon).empty());
  EXPECT_TRUE(life_of(read(spec, R"({"phase": "Pending"})"), noon).empty()) << "not begun";
  for (const char* odd : {R"({"activeDeadlineSeconds": -1})", R"({"activeDeadlineSeconds": "600"})",
                          R"({"activeDeadlineSeconds": 9000000000000000000})"})
    EXPECT_TRUE(life_of(read(odd, status), noon).empty()) << odd;
  for (const char* odd : {"now", "2026-01-31", "99999999-01-01T00:00:00Z"})
    EXPECT_FALSE(read(spec, R"({"startTime": ")" + std::string(odd) + "\"}").started) << odd;
}

TEST(KubernetesPods, OfOthersAndOfNoFormAreNotOurs) {
  const auto pods = pods_from(request_of("lab"),
                              R"({"items": [null, 7, {"metadata": []}, {"metadata": {"name": "x",
      "labels": {"lockstep.launcher": "a1b2", "lockstep.target": "lab", "lockstep.machine": "m"}}}]})",
                              "list");
  ASSERT_TRUE(pods);
  EXPECT_TRUE(pods->empty());
  EXPECT_FALSE(pods_from(request_of("lab"), "no JSON", "list"));
  EXPECT_FALSE(pods_from(request_of("lab"), "[]", "list"));
}

TEST(KubernetesManifests, HaveNoTokenButInTheSecret) {
  const auto settings = settings_from(R"({"image": "a", "bundle_image": "b", "cpus": 1.5})");
  ASSERT_TRUE(settings) << settings.error().message;
  const Request request = request_of("lab");
  const auto pod = pod_manifest(request, *settings, "lab-1");
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["limits"]["cpu"], "1500m");
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], false);
  const auto secret = secret_manifest(request, *settings, {"lab-1", "t0ken"}, "uid");
  EXPECT_EQ(secret["stringData"]["token"], "t0ken\n");
  EXPECT_EQ(secret["metadata"]["ownerReferences"][0]["name"], pod["metadata"]["name"]);
}

TEST(KubernetesManifests, APodEndsWhenTheSettingsSaySo) {
  const auto deadline = [](const std::string& more) {
    return settings_from(R"({"image": "a")" + more + "}");
  };
  const auto pod = [](const Settings& settings) {
    return pod_manifest(request_of("lab"), settings, "lab-1")["spec"];
  };
  EXPECT_FALSE(pod(*deadline("")).contains("activeDeadlineSeconds"));
  EXPECT_EQ(pod(*deadline(R"(, "active_deadline_seconds": 3600.0)"))["activeDeadlineSeconds"],
            3600);
  for (const char* bad : {"59", "60.5", "1e12", "\"3600\"", "-1"}) {
    const auto read = deadline(R"(, "active_deadline_seconds": )" + std::string(bad));
    ASSERT_FALSE(read) << bad;
    EXPECT_NE(read.error().message.find("active_deadline_seconds"), std::string::npos);
  }
}

TEST(Kubectl, ItsWordsBecomeAFailure) {
  const auto code = [](const char* errors) { return kubectl_failure("s", errors).code; };
  EXPECT_EQ(code("error: You must be logged in to the server (Unauthorized)"),
            Failure::unauthenticated);
  EXPECT_EQ(code("Unable to connect to the server: getting credentials: exec: exit status 1"),
            Failure::unauthenticated);
  EXPECT_EQ(code("The connection to the server 10.0.0.1:1 was refused - did you specify"),
            Failure::unreachable);
  EXPECT_EQ(code("Unable to connect to the server: dial tcp: lookup x: no such host"),
            Failure::unreachable);
  EXPECT_EQ(code("Error from server (Forbidden): pods is forbidden: User \"a\" cannot list"),
            Failure::no_permission);
  EXPECT_EQ(code("Error from server (Forbidden): pods \"a\" is forbidden: exceeded quota: q"),
            Failure::failed);
  EXPECT_EQ(code("Error from server (Forbidden): pods \"a\" is forbidden: violates PodSecurity"),
            Failure::unsupported);
  EXPECT_EQ(code("Error from server (AlreadyExists): pods \"a\" already exists"),
            Failure::conflict);
  EXPECT_EQ(lines_about("x \"a\" 1\n* cause\ny \"b\" 2\n* other\n", "a"), "x \"a\" 1 * cause");
}

}  // namespace
}  // namespace lockstep::compute::kubernetes
