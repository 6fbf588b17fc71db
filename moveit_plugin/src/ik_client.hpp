// Client of the service ~/compute_ik of a ros2_ik node.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <moveit_msgs/msg/move_it_error_codes.hpp>
#include <rclcpp/rclcpp.hpp>
#include <ros2_ik/srv/compute_ik.hpp>

namespace ros2_ik
{

/// A client with its own node and thread: callers may run in a callback of any executor.
class IKClient
{
public:
  using Service = srv::ComputeIK;
  using Clock = std::chrono::steady_clock;

  /// The host resolves the service name; the client's node uses the host's context.
  IKClient(rclcpp::Node & host, const std::string & service);
  ~IKClient();
  IKClient(const IKClient &) = delete;
  IKClient & operator=(const IKClient &) = delete;

  /// Return the answer, or nullptr and a code if none arrives before the deadline. Thread-safe.
  Service::Response::SharedPtr ask(
    const Service::Request::SharedPtr & request, Clock::time_point deadline,
    moveit_msgs::msg::MoveItErrorCodes & code);

private:
  /// State of the server. SILENT: a deadline was missed, and no answer has arrived since.
  enum class Server {UNKNOWN, ANSWERING, SILENT};

  rclcpp::Node::SharedPtr node_;
  rclcpp::Client<Service>::SharedPtr client_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
  std::atomic<Server> server_{Server::UNKNOWN};
};

}  // namespace ros2_ik
