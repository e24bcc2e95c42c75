#include "means/codec.h"
#include "tests/fill_table.h"
namespace lockstep::test {
void fill(ExitReport& v) { TableFiller().fill(v); }
void fill(RankExit& v) { TableFiller().fill(v); }
void fill(ComputeSpec& v) { TableFiller().fill(v); }
void fill(Inventory& v) { TableFiller().fill(v); }
void fill(ResourceRequest& v) { TableFiller().fill(v); }
}
