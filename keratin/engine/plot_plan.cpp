#include "keratin/engine/plot_plan.h"

#include <sstream>

#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/plan/plan.h"

namespace keratin {
namespace {

constexpr int column = 300, row = 22, box_width = 240, box_height = 18, margin = 12, head = 30;
constexpr size_t max_length = 38;  // characters that fit a box

std::string escaped(const std::string& words) {
  std::string out;
  for (const char c : words)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

bool is_transfer(const PlanStep& step) {
  return step.node != nullptr && &step.node->op() == &ops::transfer_op;
}

std::string label(const Plan& plan, size_t i) {
  const PlanStep& step = plan.steps[i];
  std::string words = is_transfer(step) ? text("from ", step.node->in().type().device, ", ",
                                               bytes_of(step.node->type()), " bytes")
                                        : step.kernel->describe();
  if (step.node != nullptr && step.node->origin()) words = *step.node->origin() + ": " + words;
  if (words.size() > max_length) words = words.substr(0, max_length - 1) + "~";
  return escaped(words);
}

}  // namespace

std::string plan_to_svg(const Executable& program) {
  const Plan& plan = program.plan();
  std::vector<size_t> queue_of(plan.steps.size());
  for (size_t q = 0; q < plan.queues.size(); ++q)
    for (const size_t i : plan.queues[q].steps) queue_of[i] = q;
  const auto left = [](size_t q) { return margin + static_cast<int>(q) * column; };
  const auto top = [](size_t i) { return margin + head + static_cast<int>(i) * row; };

  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
      << left(plan.queues.size()) - (column - box_width) + margin << "\" height=\""
      << top(plan.steps.size()) + margin << "\" font-family=\"monospace\" font-size=\"10\">\n"
      << "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" "
         "orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"#c33\"/></marker></defs>\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (size_t q = 0; q < plan.queues.size(); ++q)
    out << "<text x=\"" << left(q) << "\" y=\"" << margin + 12
        << "\" font-size=\"13\" font-weight=\"bold\">" << plan.queues[q].device << ": "
        << plan.queues[q].steps.size() << " steps, " << plan.queues[q].arena_bytes
        << " bytes</text>\n";
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const int x = left(queue_of[i]), y = top(i);
    out << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << box_width << "\" height=\""
        << box_height << "\" rx=\"3\" stroke=\"#345\" fill=\""
        << (is_transfer(plan.steps[i]) ? "#fde8d0" : "#e8eef6") << "\"/><text x=\"" << x + 4
        << "\" y=\"" << y + 13 << "\">" << label(plan, i) << "</text>\n";
  }
  for (size_t i = 0; i < plan.steps.size(); ++i)
    for (const Wait& wait : plan.steps[i].waits) {
      const size_t from = plan.queues[wait.queue].steps[wait.steps - 1];
      const bool rightward = wait.queue < queue_of[i];
      out << "<line x1=\"" << left(wait.queue) + (rightward ? box_width : 0) << "\" y1=\""
          << top(from) + box_height / 2 << "\" x2=\""
          << left(queue_of[i]) + (rightward ? 0 : box_width) << "\" y2=\""
          << top(i) + box_height / 2 << "\" stroke=\"#c33\" marker-end=\"url(#tip)\"/>\n";
    }
  out << "</svg>\n";
  return out.str();
}

}  // namespace keratin
