// MoveIt kinematics plugin that gets its solutions from a ros2_ik node, by its service compute_ik.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <moveit/kinematics_base/kinematics_base.hpp>
#include <moveit/robot_model/robot_model.hpp>
#include <moveit/robot_state/conversions.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <pluginlib/class_list_macros.hpp>
#include <ros2_ik/msg/status.hpp>
#include <tf2_eigen/tf2_eigen.hpp>

#include "ik_client.hpp"

namespace ros2_ik
{
using moveit::core::RobotState;
using Clock = IKClient::Clock;
using Code = moveit_msgs::msg::MoveItErrorCodes;
using Options = kinematics::KinematicsQueryOptions;
using Pose = geometry_msgs::msg::Pose;
using Request = IKClient::Service::Request;
using Values = std::vector<double>;

namespace
{
constexpr uint32_t CANDIDATES = 8;      // solutions per request if a callback may reject some
constexpr double MIN_REMAINING = 1e-3;  // shortest search that is worth a request [s]
// Largest difference between MoveIt's robot model and the node's [m, rad].
constexpr double MODEL_TOLERANCE = 1e-3;
constexpr double QUATERNION_TOLERANCE = 0.01;
// Approximate solutions are accepted at any distance, as by KDL [m], [rad].
const Values ANY_DISTANCE{1e3, 10.0};

rclcpp::Logger logger() {return rclcpp::get_logger("ros2_ik_moveit_plugin");}

Clock::duration duration(double seconds)
{
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

template<typename T>
T parameter(rclcpp::Node & node, const std::string & name, const T & fallback)
{
  try {
    return node.has_parameter(name) ? node.get_parameter(name).get_value<T>() :
           node.declare_parameter<T>(name, fallback);
  } catch (const rclcpp::ParameterTypeException & error) {  // its text lacks the parameter's name
    throw std::invalid_argument("parameter " + name + ": " + error.what());
  }
}

struct Query
{
  const std::vector<Pose> & poses;  // of the tips, in the base frame
  const Values & seed;              // one value per variable of the group
  double timeout;                   // [s]
  const Values & limits;            // largest changes from the seed [rad, m]; empty: no bounds
  const kinematics::KinematicsBase::IKCallbackFn & callback;
  const Options & options;
  const RobotState * context;       // values of the other joints; nullptr: their defaults
  bool restarts;                    // whether the search also has random starts
};
}  // namespace

/// All methods that solve are const and thread-safe; each call returns by its deadline.
class KinematicsPlugin : public kinematics::KinematicsBase
{
public:
  bool initialize(
    const rclcpp::Node::SharedPtr & node, const moveit::core::RobotModel & model,
    const std::string & group, const std::string & base, const std::vector<std::string> & tips,
    double discretization) override
  {
    storeValues(model, group, base, tips, discretization);
    group_ = model.getJointModelGroup(group);
    if (!group_ || tips.empty()) {
      RCLCPP_ERROR(logger(), "group '%s' is unknown or has no tip", group.c_str());
      return false;
    }
    if (group_->hasJointModel(root_joint()) && model.getRootJoint()->getVariableCount() > 0) {
      RCLCPP_ERROR(
        logger(), "group '%s' has virtual joint '%s' of the base; valid: groups without it",
        group.c_str(), root_joint().c_str());
      return false;
    }
    for (const auto * joint : group_->getJointModels()) {
      if (joint->getVariableCount() > 0) {
        joint_names_.push_back(joint->getName());
      }
    }
    try {
      read_parameters(*node, "robot_description_kinematics." + group + ".");
    } catch (const std::exception & error) {
      RCLCPP_ERROR(logger(), "group '%s': %s", group.c_str(), error.what());
      return false;
    }
    return true;
  }

  bool supportsGroup(const moveit::core::JointModelGroup *, std::string *) const override
  {
    return true;
  }
  const std::vector<std::string> & getJointNames() const override {return joint_names_;}
  const std::vector<std::string> & getLinkNames() const override {return tip_frames_;}

  bool getPositionIK(
    const Pose & pose, const Values & seed, Values & solution, Code & code,
    const Options & options) const override
  {
    return solve(
      {{pose}, seed, default_timeout_, {}, {}, options, nullptr, false}, solution, code);
  }
  bool searchPositionIK(
    const Pose & pose, const Values & seed, double timeout, Values & solution, Code & code,
    const Options & options) const override
  {
    return solve({{pose}, seed, timeout, {}, {}, options, nullptr, true}, solution, code);
  }
  bool searchPositionIK(
    const Pose & pose, const Values & seed, double timeout, const Values & limits,
    Values & solution, Code & code, const Options & options) const override
  {
    return solve({{pose}, seed, timeout, limits, {}, options, nullptr, true}, solution, code);
  }
  bool searchPositionIK(
    const Pose & pose, const Values & seed, double timeout, Values & solution,
    const IKCallbackFn & callback, Code & code, const Options & options) const override
  {
    return solve({{pose}, seed, timeout, {}, callback, options, nullptr, true}, solution, code);
  }
  bool searchPositionIK(
    const Pose & pose, const Values & seed, double timeout, const Values & limits,
    Values & solution, const IKCallbackFn & callback, Code & code,
    const Options & options) const override
  {
    return searchPositionIK(
      std::vector<Pose>{pose}, seed, timeout, limits, solution, callback, code, options, nullptr);
  }
  bool searchPositionIK(
    const std::vector<Pose> & poses, const Values & seed, double timeout, const Values & limits,
    Values & solution, const IKCallbackFn & callback, Code & code, const Options & options,
    const RobotState * context) const override
  {
    return solve({poses, seed, timeout, limits, callback, options, context, true}, solution, code);
  }
  using KinematicsBase::getPositionIK;     // several solutions
  using KinematicsBase::searchPositionIK;  // with a cost function, which the base class rejects

  bool getPositionFK(
    const std::vector<std::string> & links, const Values & joints,
    std::vector<Pose> & poses) const override
  {
    poses.clear();
    if (joints.size() != group_->getVariableCount()) {
      RCLCPP_ERROR(
        logger(), "group '%s': %zu joint values; valid: %u", group_name_.c_str(), joints.size(),
        group_->getVariableCount());
      return false;
    }
    const RobotState state = state_at(joints, nullptr);
    for (const auto & link : links) {
      if (!state.knowsFrameTransform(link)) {
        RCLCPP_ERROR(logger(), "unknown link '%s'", link.c_str());
        return false;
      }
      poses.push_back(
        tf2::toMsg(
          state.getFrameTransform(base_frame_).inverse() * state.getFrameTransform(link)));
    }
    return true;
  }

private:
  void read_parameters(rclcpp::Node & node, const std::string & prefix)
  {
    min_timeout_ = parameter(node, prefix + "min_timeout", 0.05);
    answer_margin_ = parameter(node, prefix + "answer_margin", 0.2);
    form_.avoid_collisions = parameter(node, prefix + "avoid_collisions", false);
    form_.select = parameter<std::string>(node, prefix + "select", "");
    form_.weights = parameter(node, prefix + "weights", Values{});
    form_.position_tolerance = parameter(node, prefix + "position_tolerance", 0.0);
    form_.orientation_tolerance = parameter(node, prefix + "orientation_tolerance", 0.0);
    form_.moving_joints = group_->getActiveJointModelNames();
    form_.tips = tip_frames_;
    client_ = std::make_unique<IKClient>(
      node, parameter<std::string>(node, prefix + "compute_ik_service", "/ros2_ik/compute_ik"));
  }

  bool solve(const Query & query, Values & solution, Code & code) const
  {
    code.val = Code::FAILURE;
    if (!is_valid(query)) {
      return false;
    }
    double seconds = std::max(query.timeout, min_timeout_);
    const auto end = Clock::now() + duration(seconds);
    RobotState state = state_at(query.seed, query.context);
    const auto request = make_request(query, state);
    do {
      request->timeout = rclcpp::Duration::from_seconds(seconds);
      const auto answer = client_->ask(request, end + duration(answer_margin_), code);
      const auto candidates = answer ? candidates_of(*answer, code) :
        std::vector<moveit_msgs::msg::RobotState>{};
      if (candidates.empty()) {
        return false;
      }
      for (const auto & candidate : candidates) {
        moveit::core::robotStateMsgToRobotState(candidate, state, false);
        state.update();
        if (!is_reached(*request, state)) {
          code.val = Code::FAILURE;
          return false;
        }
        if (accept(query, state, solution, code)) {
          return true;
        }
      }
      request->random_state++;  // all candidates were rejected: search from other random starts
      request->solutions = CANDIDATES;
      seconds = std::chrono::duration<double>(end - Clock::now()).count();
    } while (request->allow_restarts && seconds > MIN_REMAINING);
    return false;
  }

  bool is_valid(const Query & query) const
  {
    const size_t n = group_->getVariableCount();
    if (query.poses.size() != tip_frames_.size() || query.seed.size() != n ||
      (!query.limits.empty() && query.limits.size() != n))
    {
      RCLCPP_ERROR(
        logger(), "group '%s': %zu poses, %zu seed values, %zu consistency limits; "
        "valid: %zu, %zu, and 0 or %zu", group_name_.c_str(), query.poses.size(),
        query.seed.size(), query.limits.size(), tip_frames_.size(), n, n);
      return false;
    }
    for (const auto & pose : query.poses) {
      Eigen::Quaterniond rotation;
      tf2::fromMsg(pose.orientation, rotation);
      if (!(std::abs(rotation.norm() - 1) < QUATERNION_TOLERANCE)) {
        RCLCPP_ERROR(
          logger(), "group '%s': a target's quaternion has norm %g; valid: 1",
          group_name_.c_str(), rotation.norm());
        return false;
      }
    }
    return true;
  }

  RobotState state_at(const Values & joints, const RobotState * context) const
  {
    RobotState state(robot_model_);
    if (context) {
      state = *context;
    } else {
      state.setToDefaultValues();
    }
    state.setJointGroupPositions(group_, joints);
    state.update();
    return state;
  }

  Request::SharedPtr make_request(const Query & query, const RobotState & start) const
  {
    const auto request = std::make_shared<Request>(form_);
    // Targets are in the root link's frame: the node has no virtual joint, hence no model frame.
    const Eigen::Isometry3d T_root_base = in_root(start, base_frame_);
    for (const auto & pose : query.poses) {
      Eigen::Isometry3d T_base_target;
      tf2::fromMsg(pose, T_base_target);
      request->targets.emplace_back();
      request->targets.back().header.frame_id = robot_model_->getRootLinkName();
      request->targets.back().pose = tf2::toMsg(T_root_base * T_base_target);
    }
    // Attached bodies, which may have large meshes, are sent only for collision checks.
    moveit::core::robotStateToRobotStateMsg(start, request->seed, form_.avoid_collisions);
    auto & multi_dof = request->seed.multi_dof_joint_state;
    const auto & names = multi_dof.joint_names;
    const auto root = std::find(names.begin(), names.end(), root_joint());
    if (root != names.end()) {
      multi_dof.transforms.erase(multi_dof.transforms.begin() + (root - names.begin()));
      multi_dof.joint_names.erase(root);
    }
    request->solutions = query.callback ? CANDIDATES : 1;
    request->allow_restarts = query.restarts;
    if (query.options.return_approximate_solution) {
      request->approximate = ANY_DISTANCE;
      request->allow_restarts = false;  // the best attempt should be near the seed
    }
    if (query.options.lock_redundant_joints) {
      for (const unsigned index : redundant_joint_indices_) {
        request->locked_joints.push_back(joint_names_[index]);
      }
    }
    if (!query.limits.empty()) {
      limit_joint_changes(query.limits, *request);
    }
    return request;
  }

  /// Set the bounds of the group's joints; a joint with several variables gets the smallest limit.
  void limit_joint_changes(const Values & limits, Request & request) const
  {
    for (const auto * joint : group_->getActiveJointModels()) {
      const auto first = limits.begin() +
        group_->getVariableGroupIndex(joint->getVariableNames().front());
      const double limit = *std::min_element(first, first + joint->getVariableCount());
      if (limit == 0) {
        request.locked_joints.push_back(joint->getName());
      } else if (std::isfinite(limit)) {
        request.joint_change_names.push_back(joint->getName());
        request.joint_changes.push_back(limit);
      }
    }
  }

  /// Return the configurations of an answer; log the reason if the node refused the request.
  std::vector<moveit_msgs::msg::RobotState> candidates_of(
    const IKClient::Service::Response & answer, Code & code) const
  {
    using msg::Status;
    code.val = answer.status;
    if (answer.status == Status::SUCCESS) {
      auto found = answer.alternatives;
      found.insert(found.begin(), answer.solution);
      return found;
    }
    if (answer.status == Status::APPROXIMATE) {  // only if the request allows it
      return {answer.best_attempt};
    }
    if (answer.status != Status::NO_IK_SOLUTION && answer.status != Status::TIMED_OUT &&
      answer.status != Status::GOAL_IN_COLLISION)
    {
      RCLCPP_WARN(logger(), "group '%s': %s", group_name_.c_str(), answer.message.c_str());
    }
    return {};
  }

  bool accept(
    const Query & query, const RobotState & state, Values & solution, Code & code) const
  {
    // Limits in MoveIt's joint_limits.yaml can be narrower than those of the URDF in the node.
    if (!state.satisfiesBounds(group_)) {
      code.val = Code::NO_IK_SOLUTION;
      return false;
    }
    Values values;
    state.copyJointGroupPositions(group_, values);
    code.val = Code::SUCCESS;
    if (query.callback) {
      query.callback(query.poses.front(), values, code);
    }
    if (code.val == Code::SUCCESS) {
      solution = values;
    }
    return code.val == Code::SUCCESS;
  }

  /// Check the tips by MoveIt's kinematics, since the node may have a different robot.
  bool is_reached(const Request & request, const RobotState & state) const
  {
    const auto & weights = request.weights;
    const bool has_free_axes = std::find(weights.begin(), weights.end(), 0.0) != weights.end();
    if (!request.approximate.empty() || has_free_axes) {
      return true;
    }
    const double tolerance = std::max(
      {MODEL_TOLERANCE, 2 * request.position_tolerance, 2 * request.orientation_tolerance});
    for (size_t i = 0; i < tip_frames_.size(); ++i) {
      Eigen::Isometry3d target;
      tf2::fromMsg(request.targets[i].pose, target);
      const double error = (target.matrix() - in_root(state, tip_frames_[i]).matrix()).norm();
      if (error > tolerance) {
        RCLCPP_ERROR(
          logger(), "the node's solution misses the target of '%s' by %g in MoveIt's model: "
          "the node has a different robot_description", tip_frames_[i].c_str(), error);
        return false;
      }
    }
    return true;
  }

  /// Return the pose of a frame in the frame of the URDF's root link.
  Eigen::Isometry3d in_root(const RobotState & state, const std::string & frame) const
  {
    const auto & T_world_root = state.getGlobalLinkTransform(robot_model_->getRootLinkName());
    return T_world_root.inverse() * state.getFrameTransform(frame);
  }

  /// Return the name of the joint above the root link, which the URDF does not have.
  const std::string & root_joint() const {return robot_model_->getRootJointName();}

  const moveit::core::JointModelGroup * group_ = nullptr;
  std::vector<std::string> joint_names_;        // mimic joints included
  double min_timeout_ = 0, answer_margin_ = 0;  // [s]
  Request form_;                                // the fields that are equal in all requests
  std::unique_ptr<IKClient> client_;
};

}  // namespace ros2_ik

PLUGINLIB_EXPORT_CLASS(ros2_ik::KinematicsPlugin, kinematics::KinematicsBase)
