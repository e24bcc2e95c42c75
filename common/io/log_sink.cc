#include "common/io/log_sink.h"

#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>

#include "common/base/printable.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kIndent = 4;
constexpr const char* kPattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";

class PrintableSink : public spdlog::sinks::sink {
 public:
  explicit PrintableSink(spdlog::sink_ptr inner) : inner_(std::move(inner)) {
    inner_->set_formatter(
        std::make_unique<spdlog::pattern_formatter>(kPattern, spdlog::pattern_time_type::utc));
  }

  void log(const spdlog::details::log_msg& message) override {
    const std::string text = in_lines({message.payload.data(), message.payload.size()}, kIndent);
    spdlog::details::log_msg shown = message;
    shown.payload = spdlog::string_view_t(text.data(), text.size());
    inner_->log(shown);
  }
  void flush() override { inner_->flush(); }
  void set_pattern(const std::string& pattern) override { inner_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    inner_->set_formatter(std::move(formatter));
  }

 private:
  const spdlog::sink_ptr inner_;
};

}  // namespace

spdlog::sink_ptr printable_sink(spdlog::sink_ptr sink) {
  return std::make_shared<PrintableSink>(std::move(sink));
}

}  // namespace lockstep::io
