#pragma once
// Something that runs beside a job that is followed, on the same connection and loop: a terminal in
// its rank 0. The follower calls it, and leaves with it.

#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep {
struct BulkEnvelope;
}

namespace lockstep::cli {

class Beside {
 public:
  enum class State {
    waits,  // it has not begun; the follower does not wait for it
    goes_on,
    over,
    left,           // the person left it
    output_closed,  // nobody reads our output any more
  };
  virtual ~Beside() = default;
  virtual void on_job(const JobView& job) = 0;
  virtual bool on_bulk(const BulkEnvelope& envelope) = 0;  // true: the message was for this object
  virtual void on_bulk_up() = 0;
  virtual void tick(Instant now) = 0;  // called in each turn of the loop
  virtual Instant next_deadline() const = 0;
  virtual State state() const = 0;
};

}  // namespace lockstep::cli
