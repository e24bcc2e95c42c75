#include "launcher/cli/follow/log_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/base/utf8.h"
#include "tests/support/hostile_text.h"

namespace lockstep::cli {
namespace {

struct Written {
  std::string out, err;
  int writes = 0;
  LogMerge::Sink sink() {
    return [this](LogStream stream, std::string_view bytes) {
      (stream == LogStream::out ? out : err) += bytes;
      ++writes;
    };
  }
};

LogChunk chunk(int rank, std::uint64_t offset, std::string data,
               LogStream stream = LogStream::out) {
  LogChunk chunk;
  chunk.key = {{JobId("j"), 1}, rank, stream};
  chunk.node_rank = rank / 2;
  chunk.node_name = "n" + std::to_string(rank / 2);
  chunk.offset = offset;
  chunk.data = std::move(data);
  return chunk;
}

constexpr Instant at(double s) { return {static_cast<std::int64_t>(s * 1e9)}; }

TEST(LogMerge, LinesOfAllRanksGetTheirPrefix) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "hel"), at(0));
  merge.add(chunk(3, 0, "one\ntwo\nthr"), at(0));
  merge.add(chunk(0, 3, "lo\n"), at(0));
  merge.add(chunk(3, 11, "ee\n"), at(0));
  merge.add(chunk(2, 0, "oops\n", LogStream::err), at(0));
  EXPECT_EQ(written.out, "n1:3 | one\nn1:3 | two\nn0:0 | hello\nn1:3 | three\n");
  EXPECT_EQ(written.err, "n1:2 | oops\n");
}

TEST(LogMerge, ColorsThePrefixOnly) {
  Written written;
  LogMerge merge({.color = true}, written.sink());
  merge.add(chunk(1, 0, "x\n"), at(0));
  EXPECT_EQ(written.out, "\x1b[32mn0:1 | \x1b[0mx\n");
}

TEST(LogMerge, ASingleRanksBytesPassThroughAtOnce) {
  Written written;
  LogMerge merge({.prefix = false}, written.sink());
  const std::string binary("a\0b\xff\rc", 6);
  merge.add(chunk(0, 0, binary), at(0));
  EXPECT_EQ(written.out, binary);
  merge.finish();
  EXPECT_EQ(written.out, binary) << "no newline of ours";
}

TEST(LogMerge, ShowsALineWithoutNewlineAfterASecond) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "50%"), at(1));
  EXPECT_EQ(merge.next_deadline(), at(2));
  merge.show_partial(at(1.9));
  EXPECT_EQ(written.out, "");
  merge.show_partial(at(2));
  EXPECT_EQ(written.out, "n0:0 | 50%");
  EXPECT_EQ(merge.next_deadline(), Instant::never());
  merge.add(chunk(0, 3, " done\nnext"), at(3));
  EXPECT_EQ(written.out, "n0:0 | 50% done\n");
  EXPECT_EQ(merge.next_deadline(), at(4)) << "the next line waits for its own second";
}

TEST(LogMerge, AnotherRanksLineClosesAnOpenOne) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "50%"), at(0));
  merge.show_partial(at(1));
  merge.add(chunk(1, 0, "hi\n"), at(1));
  merge.add(chunk(0, 3, " done\n"), at(2));
  merge.add(chunk(0, 9, "next\n"), at(2));
  EXPECT_EQ(written.out, "n0:0 | 50%\nn0:1 | hi\nn0:0 +  done\nn0:0 | next\n");
}

TEST(LogMerge, LinesOfSeveralRanksWithoutAPrefixAreWholeToo) {
  Written written;
  LogMerge merge({.prefix = false, .by_line = true}, written.sink());
  merge.add(chunk(0, 0, "hel"), at(0));
  merge.add(chunk(1, 0, "one\n"), at(0));
  merge.add(chunk(0, 3, "lo\n"), at(0));
  EXPECT_EQ(written.out, "one\nhello\n");
}

TEST(LogMerge, OnlyWantedLinesAreShownAndJudgedAsAWhole) {
  Written written;
  MergeOptions options;
  options.wanted = [](std::string_view line) { return line.find("ab") != line.npos; };
  LogMerge merge(options, written.sink());
  merge.add(chunk(0, 0, "xa"), at(0));
  EXPECT_EQ(merge.next_deadline(), Instant::never()) << "half a line is not judged";
  merge.show_partial(at(10));
  merge.add(chunk(0, 2, "b\nno\nab\nthe cab"), at(10));
  merge.add(chunk(1, 0, "none\n"), at(10));
  EXPECT_EQ(written.out, "n0:0 | xab\nn0:0 | ab\n");
  merge.finish();
  EXPECT_EQ(written.out, "n0:0 | xab\nn0:0 | ab\nn0:0 | the cab\n");
}

TEST(LogMerge, AVeryLongLineIsJudgedInPiecesAndNeverGluedToTheNext) {
  Written written;
  MergeOptions options;
  options.prefix = false;
  options.wanted = [](std::string_view line) { return line.find('!') != line.npos; };
  LogMerge merge(options, written.sink());
  std::string piece(kMaxJudgedLineBytes, 'x');
  piece[7] = '!';
  merge.add(chunk(0, 0, piece), at(0));
  EXPECT_EQ(written.out, piece);
  merge.add(chunk(0, piece.size(), "rest\nnext!\n"), at(0));
  EXPECT_EQ(written.out, piece + "\nnext!\n");
}

TEST(LogMerge, TimestampsStandBeforeEachLine) {
  Written written;
  LogMerge merge({.timestamps = true}, written.sink());
  LogChunk first = chunk(0, 0, "a\nb\nc");
  first.times = {{0, at(1)}, {2, at(2.5)}};
  merge.add(first, at(10));
  LogChunk second = chunk(0, 5, "c\nd\n");
  second.times = {{2, at(2.5)}, {7, at(4)}};
  merge.add(second, at(10));
  EXPECT_EQ(written.out,
            "n0:0 | 1970-01-01T00:00:01.000Z a\nn0:0 | 1970-01-01T00:00:02.500Z b\n"
            "n0:0 | 1970-01-01T00:00:02.500Z cc\nn0:0 | 1970-01-01T00:00:04.000Z d\n");
  merge.add(chunk(1, 0, "unknown\n"), at(10));
  EXPECT_NE(written.out.find("n0:1 | - unknown\n"), std::string::npos);
}

TEST(LogMerge, AnEnvironmentsLinesNameTheirNode) {
  Written written;
  LogMerge merge({}, written.sink());
  LogChunk environment = chunk(1, 0, "solving\n50%", LogStream::environment);
  environment.node_name = "n1";
  merge.add(environment, at(0));
  merge.show_partial(at(1));
  merge.add(chunk(0, 0, "hi\n"), at(1));
  environment.offset = 11;
  environment.data = " done\nready\n";
  merge.add(environment, at(2));
  EXPECT_EQ(written.out, "n0:0 | hi\n");
  EXPECT_EQ(written.err,
            "[environment n1] solving\n[environment n1] 50%\n[environment n1]+  done\n"
            "[environment n1] ready\n");
}

TEST(LogMerge, OfALineThatIsRedrawnOnlyTheLastStateIsWritten) {
  Written written;
  LogMerge merge({}, written.sink());
  std::string bar;
  for (int i = 1; i <= 100; ++i) bar += "\r" + std::to_string(i) + "%";
  merge.add(chunk(0, 0, bar.substr(0, 50)), at(0));
  merge.show_partial(at(10));
  EXPECT_EQ(written.out, "") << "it waits for its end";
  EXPECT_EQ(merge.next_deadline(), Instant::never());
  merge.add(chunk(1, 0, "hi\n"), at(10));
  merge.add(chunk(0, 50, bar.substr(50)), at(11));
  merge.add(chunk(0, bar.size(), "\nnext\r\n"), at(12));
  EXPECT_EQ(written.out, "n0:1 | hi\nn0:0 | 100%\nn0:0 | next\r\n");
}

TEST(LogMerge, ALineThatIsRedrawnStandsAmongTheLiveOnes) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "\r 1%\r 2%"), at(0));
  merge.add(chunk(2, 0, "1 of 9\r"), at(0));
  merge.add(chunk(3, 0, "plain"), at(0));
  EXPECT_EQ(merge.live(), (std::vector<std::string>{"n0:0 |  2%", "n1:2 | 1 of 9"}));
  merge.add(chunk(2, 7, "2 of 9\r"), at(1));
  EXPECT_EQ(merge.live().at(1), "n1:2 | 2 of 9");
  merge.add(chunk(0, 8, "\n"), at(1));
  EXPECT_EQ(merge.live(), std::vector<std::string>{"n1:2 | 2 of 9"});
  merge.finish();
  EXPECT_TRUE(merge.live().empty());
  EXPECT_EQ(written.out, "n0:0 |  2%\nn1:2 | 2 of 9\r\nn1:3 | plain\n");
}

TEST(LogMerge, WhatReplacesAStateThatWasShownStandsOnALineOfItsOwn) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "loading"), at(0));
  merge.show_partial(at(1));
  merge.add(chunk(0, 7, "\r50%\r100%\n"), at(2));
  EXPECT_EQ(written.out, "n0:0 | loading\nn0:0 | 100%\n");
}

TEST(LogMerge, ALineThatIsRedrawnForHoursStaysSmall) {
  Written written;
  LogMerge merge({}, written.sink());
  std::uint64_t offset = 0;
  for (int i = 0; i < 100; ++i) {
    std::string states;
    for (int j = 0; j < 1'000; ++j) states += "\r" + std::string(100, 'x') + std::to_string(i);
    merge.add(chunk(0, offset, states), at(i));
    offset += states.size();
    merge.show_partial(at(i));
  }
  EXPECT_EQ(written.out, "");
  merge.finish();
  EXPECT_EQ(written.out, "n0:0 | " + std::string(100, 'x') + "99\n");
}

MergeOptions one_rank_off_a_terminal() {
  MergeOptions options;
  options.prefix = false;
  options.states_every = seconds(1);
  return options;
}

// A state every 100 ms for `seconds_long`, each a chunk with its time if `timed`.
std::uint64_t draw_bar(LogMerge& merge, int seconds_long, bool timed, bool trailing) {
  std::uint64_t offset = 0;
  for (int i = 0; i < seconds_long * 10; ++i) {
    LogChunk state =
        chunk(0, offset, trailing ? std::to_string(i) + "%\r" : "\r" + std::to_string(i) + "%",
              LogStream::err);
    if (timed) state.times = {{offset, at(0.1 * i)}};
    offset += state.data.size();
    const Instant now = timed ? at(1'000) : at(0.1 * i);
    merge.add(state, now);
    if (!timed) merge.show_partial(now);
  }
  return offset;
}

TEST(LogMerge, OffATerminalABarIsItsLastStateOfEachSecond) {
  for (const bool timed : {true, false})
    for (const bool trailing : {true, false}) {
      Written written;
      LogMerge merge(one_rank_off_a_terminal(), written.sink());
      const auto end = draw_bar(merge, 5, timed, trailing);
      merge.add(chunk(0, end, "\ndone\n", LogStream::err), at(1'001));
      const auto lines = static_cast<int>(std::count(written.err.begin(), written.err.end(), '\n'));
      EXPECT_GE(lines, 5) << written.err;
      EXPECT_LE(lines, 9) << written.err;
      EXPECT_NE(written.err.find("49%"), std::string::npos) << written.err;
      EXPECT_TRUE(written.err.ends_with("\ndone\n")) << written.err;
      EXPECT_EQ(written.err.find("\n\n"), std::string::npos) << written.err;
    }
}

TEST(LogMerge, OffATerminalTheStatesOfABarStandOnLinesWithTheirPrefixAndTime) {
  Written written;
  MergeOptions options;
  options.timestamps = true;
  options.states_every = seconds(1);
  LogMerge merge(options, written.sink());
  LogChunk bar = chunk(0, 0, "\r1%\r2%\r3%\n");
  bar.times = {{0, at(1)}, {4, at(1.5)}, {6, at(3)}};
  merge.add(bar, at(100));
  EXPECT_EQ(written.out,
            "n0:0 | 1970-01-01T00:00:01.500Z 2%\nn0:0 | 1970-01-01T00:00:03.000Z 3%\n");
}

TEST(LogMerge, OffATerminalAStalledBarIsShownAfterASecond) {
  Written written;
  LogMerge merge(one_rank_off_a_terminal(), written.sink());
  merge.add(chunk(0, 0, "\r1%\r2%", LogStream::err), at(0));
  EXPECT_EQ(written.err, "");
  EXPECT_EQ(merge.next_deadline(), at(1));
  merge.show_partial(at(1));
  EXPECT_EQ(written.err, "2%");
  EXPECT_EQ(merge.next_deadline(), Instant::never());
  merge.add(chunk(0, 6, "\r3%\n", LogStream::err), at(60));
  EXPECT_EQ(written.err, "2%\n3%\n");
}

TEST(LogMerge, OffATerminalWhatIsNoTextPassesByteForByte) {
  const std::string binary("a\0b\xff\rc\rd\re\n", 11);
  Written written;
  LogMerge merge(one_rank_off_a_terminal(), written.sink());
  merge.add(chunk(0, 0, binary, LogStream::err), at(0));
  EXPECT_EQ(written.err, binary);
}

TEST(LogMerge, OffATerminalLinesOfDosPassAsTheyAre) {
  Written written;
  LogMerge merge(one_rank_off_a_terminal(), written.sink());
  merge.add(chunk(0, 0, "a\r\nb\r", LogStream::err), at(0));
  merge.add(chunk(0, 5, "\nc", LogStream::err), at(0));
  merge.finish();
  EXPECT_EQ(written.err, "a\r\nb\r\nc");
}

TEST(LogMerge, TailShowsTheLastStateAlone) {
  Written written;
  MergeOptions options = one_rank_off_a_terminal();
  options.states_since = at(500);
  LogMerge merge(options, written.sink());
  const auto end = draw_bar(merge, 5, true, false);
  merge.add(chunk(0, end, "\n", LogStream::err), at(1'001));
  EXPECT_EQ(written.err, "49%\n");
}

TEST(LogMerge, ABarOfManyStatesIsShort) {
  Written written;
  LogMerge merge(one_rank_off_a_terminal(), written.sink());
  std::uint64_t offset = 0;
  for (int i = 0; i < 200; ++i) {
    std::string states;
    for (int j = 0; j < 1'000; ++j) states += "\r" + std::string(50, '#') + std::to_string(i);
    LogChunk piece = chunk(0, offset, states, LogStream::err);
    piece.times = {{offset, at(0.01 * i)}};
    offset += states.size();
    merge.add(piece, at(0.01 * i));
  }
  merge.finish();
  EXPECT_LT(written.err.size(), 1'000u);
  EXPECT_TRUE(written.err.ends_with("#199")) << written.err;
}

TEST(LogMerge, OffATerminalStandardOutputOfOneRankPassesUntilALineIsRedrawnOften) {
  Written written;
  LogMerge merge(one_rank_off_a_terminal(), written.sink());
  std::string data;
  for (int i = 0; i < kExactStates; ++i) data += "\r" + std::to_string(i);
  merge.add(chunk(0, 0, data), at(0));
  merge.add(chunk(0, data.size(), "\nnext"), at(0));
  EXPECT_EQ(written.out, data + "\nnext");
  const std::string before = written.out;
  std::string bar;
  for (int i = 0; i < 10'000; ++i) bar += "\r" + std::to_string(i);
  merge.add(chunk(0, before.size(), bar + "\nend\n"), at(0));
  EXPECT_LT(written.out.size(), before.size() + 200) << written.out;
  EXPECT_TRUE(written.out.ends_with("\n9999\nend\n")) << written.out;
}

TEST(LogMerge, AnyStateOfALineMayBeTheWantedOne) {
  Written written;
  MergeOptions options;
  options.wanted = [](std::string_view line) { return line.find("nan") != line.npos; };
  LogMerge merge(options, written.sink());
  merge.add(chunk(0, 0, "\rloss 2\rloss nan\rloss 1\nloss 3\n"), at(0));
  EXPECT_EQ(written.out, "n0:0 | loss nan\n");
}

TEST(LogMerge, TheEndShowsWhatIsLeft) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "a"), at(0));
  merge.add(chunk(1, 0, "b"), at(0));
  merge.finish();
  EXPECT_EQ(written.out, "n0:0 | a\nn0:1 | b\n");
}

TEST(LogMerge, AVeryLongLineIsNotHeldForEver) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, std::string(kMaxHeldLineBytes, 'x')), at(0));
  EXPECT_EQ(written.out.size(), kMaxHeldLineBytes + 7);
  EXPECT_EQ(merge.next_deadline(), Instant::never());
}

TEST(LogMerge, AGapIsRefusedAndNothingIsTaken) {
  Written written;
  LogMerge merge({}, written.sink());
  EXPECT_EQ(merge.add(chunk(0, 2, "c\n"), at(0)), LogMerge::Outcome::gap);
  EXPECT_EQ(merge.add(chunk(0, 0, "a\n"), at(0)), LogMerge::Outcome::taken);
  EXPECT_EQ(merge.add(chunk(0, 5, "c\n"), at(0)), LogMerge::Outcome::gap);
  EXPECT_EQ(written.out, "n0:0 | a\n");
  EXPECT_EQ(merge.positions().at(0).offset, 2u);
  LogMerge tail({.from_start = false}, written.sink());
  EXPECT_EQ(tail.add(chunk(0, 1000, "c\n"), at(0)), LogMerge::Outcome::taken);
}

// Whatever is repeated, cut anew or late after a reconnect: each byte is written once, in order.
TEST(LogMerge, RepeatedAndOverlappingChunksAreWrittenOnce) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += std::to_string(i) + "\n";
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    Written written;
    LogMerge merge({.prefix = false}, written.sink());
    for (std::uint64_t at_byte = 0; at_byte < text.size();) {
      const std::uint64_t back = random() % 40;
      const std::uint64_t from = at_byte > back ? at_byte - back : 0;
      const std::string data = text.substr(from, random() % 60);
      const auto outcome = merge.add(chunk(0, from, data), at(0));
      EXPECT_NE(outcome, LogMerge::Outcome::gap);
      at_byte = merge.positions().at(0).offset;
    }
    EXPECT_EQ(written.out, text) << "seed " << seed;
  }
}

// Rank 0 writes a line of characters of three bytes, and rank 1 comes between.
TEST(LogMerge, AVeryLongLineIsCutBetweenCharacters) {
  for (std::size_t lead = 0; lead < 3; ++lead) {
    Written written;
    LogMerge merge({}, written.sink());
    std::string line(lead, 'x');
    while (line.size() < kMaxHeldLineBytes + 100) line += "\xe2\x82\xac";
    merge.add(chunk(0, 0, line.substr(0, kMaxHeldLineBytes)), at(0));
    merge.add(chunk(1, 0, "between\n"), at(0));
    merge.add(chunk(0, kMaxHeldLineBytes, line.substr(kMaxHeldLineBytes) + "\n"), at(0));
    const std::string first = written.out.substr(0, written.out.find('\n'));
    EXPECT_EQ(whole_characters(first), first.size()) << lead;
    EXPECT_EQ(first.size(), 7 + lead + (kMaxHeldLineBytes - lead) / 3 * 3);
    EXPECT_EQ(written.out, "n0:0 | " + line.substr(0, first.size() - 7) +
                               "\nn0:1 | between\nn0:0 + " + line.substr(first.size() - 7) + "\n");
  }
}

TEST(LogMerge, ALineWithoutNewlineIsShownWithoutAHalfCharacter) {
  Written written;
  LogMerge merge({}, written.sink());
  merge.add(chunk(0, 0, "50\xe2\x82"), at(0));
  merge.show_partial(at(1));
  EXPECT_EQ(written.out, "n0:0 | 50");
  EXPECT_EQ(merge.next_deadline(), Instant::never()) << "there is nothing to show";
  merge.add(chunk(1, 0, "hi\n"), at(2));
  merge.add(chunk(0, 4, "\xac\n"), at(3));
  EXPECT_EQ(written.out, "n0:0 | 50\nn0:1 | hi\nn0:0 + \xe2\x82\xac\n");
  merge.add(chunk(0, 6, "\xff\xe2"), at(4));
  merge.finish();
  EXPECT_TRUE(written.out.ends_with("n0:0 | \xff\xe2\n")) << "no UTF-8 stays as it is";
}

TEST(LogMerge, PiecesOfASingleRankEndBetweenCharactersToo) {
  Written written;
  LogMerge merge({.prefix = false}, written.sink());
  merge.add(chunk(0, 0, "a\xf0\x9f"), at(0));
  EXPECT_EQ(written.out, "a");
  merge.add(chunk(0, 3, "\x99"), at(0));
  EXPECT_EQ(written.writes, 1);
  EXPECT_EQ(merge.next_deadline(), Instant::never());
  merge.add(chunk(0, 4, "\x82\r\xe2"), at(0));
  EXPECT_EQ(written.out, "a\xf0\x9f\x99\x82\r");
  merge.finish();
  EXPECT_EQ(written.out, "a\xf0\x9f\x99\x82\r\xe2") << "and no byte is lost";
}

MergeOptions shown_on_a_terminal(bool prefix) {
  MergeOptions options;
  options.prefix = prefix;
  options.on_terminal = [](LogStream stream) { return stream == LogStream::out; };
  return options;
}

TEST(LogMerge, WhatATerminalWouldObeyIsShownWhereALogGoesToOne) {
  for (const bool prefix : {false, true}) {
    Written written;
    LogMerge merge(shown_on_a_terminal(prefix), written.sink());
    const std::string bad = test::hostile_text() + "\n";
    merge.add(chunk(0, 0, bad), at(0));
    merge.add(chunk(0, 0, bad, LogStream::err), at(0));
    merge.finish();
    EXPECT_EQ(test::not_for_a_terminal(written.out, true), "");
    if (prefix) continue;
    EXPECT_EQ(written.err, bad) << "a file gets the bytes";
  }
}

TEST(LogMerge, ColorsOfALogEndWithItsLines) {
  Written written;
  LogMerge merge(shown_on_a_terminal(true), written.sink());
  merge.add(chunk(0, 0, "\x1b[31mred\nstill\n"), at(0));
  merge.add(chunk(1, 0, "other\n"), at(0));
  merge.add(chunk(0, 15, "red\x1b[0m\nplain\n"), at(0));
  EXPECT_EQ(written.out,
            "n0:0 | \x1b[31mred\x1b[0m\nn0:0 | \x1b[31mstill\x1b[0m\nn0:1 | other\n"
            "n0:0 | \x1b[31mred\x1b[0m\nn0:0 | plain\n");
}

TEST(LogMerge, ASequenceIsNotCutWhereALineIsShownInPieces) {
  Written written;
  LogMerge merge(shown_on_a_terminal(false), written.sink());
  merge.add(chunk(0, 0, "a\x1b[3"), at(0));
  merge.show_partial(at(1));
  EXPECT_EQ(written.out, "a");
  EXPECT_EQ(merge.next_deadline(), Instant::never());
  merge.add(chunk(0, 4, "1mb\n"), at(2));
  EXPECT_EQ(written.out, "a\x1b[31mb\x1b[0m\n");
}

TEST(LogMerge, AProgressBarOfASingleRankIsRedrawnOnATerminal) {
  Written written;
  LogMerge merge(shown_on_a_terminal(false), written.sink());
  merge.add(chunk(0, 0, "\r 10%\r\x1b[32m 20%"), at(0));
  EXPECT_EQ(written.out, "");
  ASSERT_EQ(merge.live().size(), 1u);
  EXPECT_EQ(merge.live()[0], "\x1b[32m 20%\x1b[0m");
  merge.add(chunk(0, 15, "\r100%\r\n"), at(0));
  EXPECT_EQ(written.out, "100%\n");
}

}  // namespace
}  // namespace lockstep::cli
