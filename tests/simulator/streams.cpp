#include "streams.h"

#include <algorithm>
#include <iostream>

namespace keratin::simulator {

namespace {

// Does what the stream was ordered to do, and all that this waits for: up to a mark, or all of it.
void drain_until(Stream& stream, const Mark* mark) {
  while (!stream.orders.empty() && (mark == nullptr || !mark->done)) {
    const Order order = std::move(stream.orders.front());
    stream.orders.pop_front();
    if (order.waits_for != nullptr && !order.waits_for->done)
      drain_until(*order.waits_for->stream, order.waits_for.get());
    if (!order.work) continue;
    machine().working = order.who;
    order.work();
  }
}

// Any order that the dependencies allow; which one changes from launch to launch.
void run_graph(const GraphExec& graph, const std::vector<std::shared_ptr<Mark>>& marks,
               uint64_t seed) {
  std::vector<size_t> left(graph.nodes.size()), ready;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    left[i] = graph.nodes[i].after.size();
    if (left[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(ready[(seed >> 33) % ready.size()], ready.back());
    const size_t at = ready.back();
    ready.pop_back();
    machine().working.name = Work().name;
    machine().working.node = at;
    machine().working.nodes_before = graph.nodes[at].all_before;
    if (graph.nodes[at].work) graph.nodes[at].work();
    if (marks[at] != nullptr) marks[at]->done = true;
    for (size_t next = 0; next < graph.nodes.size(); ++next)
      for (size_t before : graph.nodes[next].after)
        if (before == at && --left[next] == 0) ready.push_back(next);
  }
}

}  // namespace

Machine& machine() {
  static auto* made = new Machine();  // programs may end before their work does
  return *made;
}

void Machine::complain(const std::string& words) {
  std::cerr << "simulated GPU: " << words << '\n';
  failed_ = true;
}

int Machine::take_failure() {
  const bool was = failed_;
  failed_ = false;
  return was ? launch_failed : success;
}

int Machine::order(Stream& stream, Order order) {
  if (stream.capture != nullptr) {
    Graph& graph = *stream.capture;
    if (order.waits_for != nullptr) return invalidate(stream, capture_isolated);
    graph.nodes.push_back(std::make_unique<GraphNode>(
        GraphNode{std::move(order.work), stream.capture_after, order.records}));
    stream.capture_after = {graph.nodes.back().get()};
    return success;
  }
  if (order.waits_for != nullptr) stream.clock.join(order.waits_for->clock);
  const auto position = std::make_shared<Position>(Position{stream.id, ++stream.ordered, moment_});
  if (checked) stream.unheard.push_back(position);
  order.who = {.position = position, .after = std::make_shared<Clock>(stream.clock)};
  stream.orders.push_back(std::move(order));
  if (eager_) drain_until(stream, nullptr);
  return success;
}

int Machine::invalidate(Stream& stream, int result) {
  stream.capture_is_broken = true;
  return result;
}

int Machine::synchronize(Stream& stream) {
  if (stream.capture != nullptr) return invalidate(stream, capture_unsupported);
  drain_until(stream, nullptr);
  ++moment_;
  hear(stream.id, stream.ordered);
  hear(stream.clock);
  return take_failure();
}

int Machine::synchronize(const std::shared_ptr<Mark>& mark) {
  if (mark != nullptr && !mark->done) drain_until(*mark->stream, mark.get());
  ++moment_;
  if (mark != nullptr) hear(mark->clock);
  return take_failure();
}

void Machine::finish_everything() {
  for (Stream* stream : streams) drain_until(*stream, nullptr);
}

void Machine::hear(const Clock& clock) {
  clock.each([&](uint64_t stream, uint64_t number) { hear(stream, number); });
}

void Machine::hear(uint64_t id, uint64_t number) {
  for (Stream* stream : streams)
    if (stream->id == id)
      std::erase_if(stream->unheard, [&](const std::shared_ptr<Position>& position) {
        if (position->number > number) return false;
        position->heard_at = moment_;
        return true;
      });
}

void Machine::hear_everything() {
  ++moment_;
  for (const Stream* stream : streams) hear(stream->id, stream->ordered);
}

void Machine::report(uintptr_t begin, uintptr_t end, Touch how) {
  if (!checked || begin == end) return;
  const std::string problem = history.add(begin, end, how, working);
  if (!problem.empty()) complain(problem);
}

int Machine::record(Event& event, Stream& stream, bool for_others) {
  if (stream.capture != nullptr) {
    if (!for_others) return invalidate(stream, capture_unsupported);
    return order(stream, {.work = {}, .waits_for = nullptr, .records = &event});
  }
  event.mark = std::make_shared<Mark>(Mark{&stream, false, stream.clock});
  event.mark->clock.add(stream.id, stream.ordered);
  return order(stream, {.work = [mark = event.mark] { mark->done = true; }});
}

int Machine::launch_graph(GraphExec& graph, Stream& stream) {
  std::vector<std::shared_ptr<Mark>> marks(graph.nodes.size());
  for (size_t i = 0; i < marks.size(); ++i) {
    if (graph.nodes[i].records == nullptr) continue;
    marks[i] = std::make_shared<Mark>(Mark{&stream, false, stream.clock});
    marks[i]->clock.add(stream.id, stream.ordered);
    marks[i]->clock.add(Position{stream.id, stream.ordered + 1}, graph.nodes[i].all_before);
    graph.nodes[i].records->mark = marks[i];
  }
  return order(stream, {.work = [&graph, marks, seed = ++graph_launches_] {
                 run_graph(graph, marks, seed);
               }});
}

__attribute__((visibility("default"))) int enqueue(Stream* stream, std::function<void()> work) {
  Machine& m = machine();
  const std::lock_guard guard(m.lock);
  return m.order(*stream, {.work = std::move(work)});
}

__attribute__((visibility("default"))) void report(const void* memory, size_t bytes, bool writes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  machine().report(begin, begin + bytes, writes ? Touch::write : Touch::read);
}

__attribute__((visibility("default"))) int wait_for(Stream* stream, Stream* other) {
  Machine& m = machine();
  const std::lock_guard guard(m.lock);
  Event event;
  if (const int result = m.record(event, *other, false)) return result;
  return m.order(*stream, {.work = {}, .waits_for = event.mark});
}

}  // namespace keratin::simulator
