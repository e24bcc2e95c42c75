// A service with two adapters: each connection is answered over its own.

#include "launcher/api/reply_router.h"

#include <gtest/gtest.h>

#include "tests/fakes/api/ports.h"

namespace lockstep::launcher {
namespace {

class TwoAdapters : public testing::Test {
 protected:
  TwoAdapters() {
    router_.add('z', zmq_);
    router_.add('h', other_);
  }

  test::FakeReplies zmq_, other_;
  ReplyRouter router_;
};

TEST_F(TwoAdapters, AReplyGoesToTheAdapterOfItsConnectionUnderItsOwnName) {
  router_.send(ReplyRouter::connection_of('z', "peer"), 7, Done{"one"});
  router_.send(ReplyRouter::connection_of('h', "peer"), 8, Done{"two"});
  ASSERT_EQ(zmq_.sent.size(), 1U);
  EXPECT_EQ(zmq_.sent[0].connection, "peer");
  EXPECT_EQ(zmq_.sent[0].reply_to, 7U);
  ASSERT_EQ(other_.sent.size(), 1U);
  EXPECT_EQ(other_.sent[0].connection, "peer");
  EXPECT_EQ(other_.sent[0].reply_to, 8U);
}

TEST_F(TwoAdapters, OneIsGoneIfItsAdapterSaysSo) {
  zmq_.gone.insert("peer");
  EXPECT_TRUE(router_.is_gone(ReplyRouter::connection_of('z', "peer")));
  EXPECT_FALSE(router_.is_gone(ReplyRouter::connection_of('h', "peer")));
}

TEST_F(TwoAdapters, WithoutAnAdapterAConnectionIsGone) {
  for (const std::string connection : {"", "x", "xpeer"}) {
    EXPECT_TRUE(router_.is_gone(connection)) << connection;
    router_.send(connection, 1, Done{"lost"});
  }
  EXPECT_TRUE(zmq_.sent.empty() && other_.sent.empty());
}

// Both have a connection of the same name, and each hears of the job once.
TEST_F(TwoAdapters, WatchersOfOneJobAreToldOverBoth) {
  test::FakePorts ports;
  Service::Ports all = ports.all();
  Service service(Service::Ports{all.core, all.clock, all.blobs, all.secrets, all.files, all.audit,
                                 all.measurements, all.metrics, all.launcher, router_});
  ports.core.on_step = [&](const Step& step) { test::perform(step, service); };
  ports.core.core().recovered(ports.clock.time);
  const PublicKey key(std::string(40, 'a'));
  ports.core.feed(PrincipalInput{
      {}, AddUser{"ann", "ann", key, {Role::submitter, "default"}}, LauncherItself{}});
  SubmitInput submit;
  submit.submission = submit.spec.name = "j";
  submit.spec.command = ShellCommand{"true"};
  submit.spec.submitter = submit.spec.run_as = "ann";
  submit.spec.project = "default";
  submit.caller = LauncherItself{};
  ports.core.feed(submit);
  for (const char adapter : {'z', 'h'}) {
    Asker asker;
    asker.caller = UserCaller{"ann"};
    asker.key = key;
    asker.connection = ReplyRouter::connection_of(adapter, "peer");
    service.handle(asker, WatchJob{JobId("j")});
  }
  zmq_.sent.clear();
  other_.sent.clear();
  ports.core.feed(CancelInput{{}, JobId("j"), UserCaller{"ann"}});
  for (const test::FakeReplies* adapter : {&zmq_, &other_}) {
    ASSERT_EQ(adapter->sent.size(), 1U);
    EXPECT_EQ(adapter->sent[0].connection, "peer");
    EXPECT_TRUE(std::holds_alternative<JobUpdate>(adapter->sent[0].reply));
  }
  service.gone(ReplyRouter::connection_of('z', "peer"));
  EXPECT_EQ(service.wait(), Duration::max()) << "the job is over";
}

}  // namespace
}  // namespace lockstep::launcher
