#include "ik_client.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <mutex>

namespace ros2_ik
{
namespace
{
using namespace std::chrono_literals;
using Code = moveit_msgs::msg::MoveItErrorCodes;

// Longest wait for a server that has missed a deadline; most answers take 2-5 ms.
constexpr auto PATIENCE = 100ms;
// Period of repeating a request, since the server may not have discovered this client yet.
constexpr auto RESEND_PERIOD = 100ms;
// Period of the check that the service still exists.
constexpr auto CHECK_PERIOD = 20ms;
// Time for which late answers are received: they show that the server is alive.
constexpr auto KEEP_PENDING = 60s;
constexpr size_t QUEUE_DEPTH = 100;  // depth of the queue for the answers to all threads

rclcpp::Node::SharedPtr make_node(rclcpp::Node & host)
{
  static std::atomic<unsigned> count{0};
  rclcpp::NodeOptions options;
  options.context(host.get_node_base_interface()->get_context());
  options.use_global_arguments(false);  // else __node:= would rename this node, too
  options.start_parameter_services(false).start_parameter_event_publisher(false);
  options.enable_rosout(false);
  const auto name = std::string(host.get_name()) + "_ik_" + std::to_string(count++);
  return std::make_shared<rclcpp::Node>(name, host.get_namespace(), options);
}

rclcpp::ExecutorOptions in_context_of(rclcpp::Node & node)
{
  rclcpp::ExecutorOptions options;
  options.context = node.get_node_base_interface()->get_context();
  return options;
}
}  // namespace

IKClient::IKClient(rclcpp::Node & host, const std::string & service)
: node_(make_node(host)), executor_(in_context_of(host))
{
  const auto base = host.get_node_base_interface();
  client_ = node_->create_client<Service>(
    base->resolve_topic_or_service_name(service, true),
    rclcpp::ServicesQoS().keep_last(QUEUE_DEPTH));
  executor_.add_node(node_);
  thread_ = std::thread([this] {executor_.spin();});
  while (!executor_.is_spinning() && rclcpp::ok(base->get_context())) {
    std::this_thread::sleep_for(1ms);  // cancel() before spin() has no effect (rclcpp#3172)
  }
}

IKClient::~IKClient()
{
  executor_.cancel();
  thread_.join();  // the library is unloaded next, and the thread runs its code
}

IKClient::Service::Response::SharedPtr IKClient::ask(
  const Service::Request::SharedPtr & request, Clock::time_point deadline, Code & code)
{
  const auto promise = std::make_shared<std::promise<Service::Response::SharedPtr>>();
  const auto first = std::make_shared<std::once_flag>();
  const auto receive = [this, promise, first](rclcpp::Client<Service>::SharedFuture future) {
      server_ = Server::ANSWERING;
      std::call_once(*first, [&] {promise->set_value(future.get());});
    };
  const Server server = server_;
  if (server == Server::SILENT) {
    deadline = std::min(deadline, Clock::now() + PATIENCE);
  }
  auto answer = promise->get_future();
  auto next_send = Clock::time_point::min();
  const auto context = node_->get_node_base_interface()->get_context();
  for (auto now = Clock::now(); now < deadline && rclcpp::ok(context); now = Clock::now()) {
    if (!client_->service_is_ready()) {
      if (server != Server::UNKNOWN) {
        break;
      }
    } else if (now >= next_send) {
      client_->async_send_request(request, receive);
      const bool resend = server == Server::UNKNOWN;
      next_send = resend ? now + RESEND_PERIOD : Clock::time_point::max();
    }
    const auto wait = std::min<Clock::duration>(CHECK_PERIOD, deadline - now);
    if (answer.wait_for(wait) == std::future_status::ready) {
      return answer.get();
    }
  }
  server_ = Server::SILENT;
  client_->prune_requests_older_than(std::chrono::system_clock::now() - KEEP_PENDING);
  const bool ready = client_->service_is_ready();
  code.val = ready && server == Server::ANSWERING ? Code::TIMED_OUT : Code::COMMUNICATION_FAILURE;
  RCLCPP_WARN_THROTTLE(
    node_->get_logger(), *node_->get_clock(), 1000, "no answer from %s: %s",
    client_->get_service_name(), ready ? "the deadline has passed" : "the service does not exist");
  return nullptr;
}

}  // namespace ros2_ik
