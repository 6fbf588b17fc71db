// Tests of the plugin with a running node; MoveIt's kinematics check the solutions.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <moveit/kinematics_plugin_loader/kinematics_plugin_loader.hpp>
#include <moveit/robot_model/robot_model.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <pluginlib/class_loader.hpp>
#include <rclcpp/rclcpp.hpp>
#include <tf2_eigen/tf2_eigen.hpp>
#include <urdf_parser/urdf_parser.h>

using moveit::core::RobotState;
using Code = moveit_msgs::msg::MoveItErrorCodes;
using Clock = std::chrono::steady_clock;
using Values = std::vector<double>;

namespace
{
constexpr double TIMEOUT = 2.0;  // generous, for a busy machine [s]

double seconds_since(Clock::time_point start)
{
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Robot, its group `arm` and MoveIt's plugin loader, from the parameters of this process.
class SetFromIK : public testing::Test
{
protected:
  static moveit::core::RobotModelPtr load_model(const std::string & description)
  {
    const auto urdf = urdf::parseURDF(description);
    const auto srdf = std::make_shared<srdf::Model>();
    srdf->initString(*urdf, node->get_parameter("robot_description_semantic").as_string());
    return std::make_shared<moveit::core::RobotModel>(urdf, srdf);
  }

  static void SetUpTestSuite()
  {
    node = std::make_shared<rclcpp::Node>(
      "set_from_ik",
      rclcpp::NodeOptions().automatically_declare_parameters_from_overrides(true));
    model = load_model(node->get_parameter("robot_description").as_string());
    loader = std::make_shared<kinematics_plugin_loader::KinematicsPluginLoader>(node);
    const auto srdf = std::make_shared<srdf::Model>(*model->getSRDF());
    model->setKinematicsAllocators({{"arm", loader->getLoaderFunction(srdf)}});
    arm = model->getJointModelGroup("arm");
    solver = arm->getSolverInstance();
    classes = std::make_shared<Classes>("moveit_core", "kinematics::KinematicsBase");
    wait_for_node();
  }

  /// Wait until the node, which starts later than the plugin, solves a request.
  static void wait_for_node()
  {
    const auto start = Clock::now();
    RobotState state(model);
    state.setToDefaultValues();
    const auto target = state.getGlobalLinkTransform(solver->getTipFrame());
    while (!state.setFromIK(arm, target, TIMEOUT)) {
      ASSERT_LT(seconds_since(start), 100);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  static void TearDownTestSuite()
  {
    solver.reset();
    model.reset();
    classes.reset();
    loader.reset();
    node.reset();
  }

  void SetUp() override
  {
    ASSERT_TRUE(solver);
    home.setToDefaultValues();
    home.setToDefaultValues(model->getJointModelGroup("arm_and_hand"), "default");
    home.setVariablePosition("virtual_joint/trans_x", 1.0);
    home.update();
    home.copyJointGroupPositions(arm, seed);
    tip = solver->getTipFrame();
  }

  /// Return a random state with each joint at most `spread` [rad] from home.
  RobotState near_home(double spread)
  {
    RobotState state = home;
    state.setToRandomPositionsNearBy(arm, home, spread, random);
    state.update();
    return state;
  }

  double error(RobotState & state, const Eigen::Isometry3d & target) const
  {
    return (state.getGlobalLinkTransform(tip).matrix() - target.matrix()).norm();
  }

  geometry_msgs::msg::Pose pose_of(const RobotState & state, const std::string & link = "") const
  {
    return tf2::toMsg(
      state.getGlobalLinkTransform(solver->getBaseFrame()).inverse() *
      state.getGlobalLinkTransform(link.empty() ? tip : link));
  }

  /// Return an instance of the plugin with other tips, or another robot, than the loader.
  kinematics::KinematicsBasePtr plugin_for(
    const std::vector<std::string> & tips, const moveit::core::RobotModel & robot = *model) const
  {
    const auto plugin = classes->createSharedInstance("ros2_ik/KinematicsPlugin");
    EXPECT_TRUE(plugin->initialize(node, robot, "arm", robot.getModelFrame(), tips, 0.1));
    return plugin;
  }

  using Classes = pluginlib::ClassLoader<kinematics::KinematicsBase>;
  static inline std::shared_ptr<Classes> classes;
  static inline rclcpp::Node::SharedPtr node;
  static inline moveit::core::RobotModelPtr model;
  static inline std::shared_ptr<kinematics_plugin_loader::KinematicsPluginLoader> loader;
  static inline const moveit::core::JointModelGroup * arm = nullptr;
  static inline kinematics::KinematicsBaseConstPtr solver;
  random_numbers::RandomNumberGenerator random{1};
  RobotState home{model};
  Values seed, solution;
  std::string tip;
  Code code;
  kinematics::KinematicsQueryOptions options;
};
}  // namespace

TEST_F(SetFromIK, reaches_random_poses)
{
  for (int i = 0; i < 50; ++i) {
    RobotState goal = home, state = home;
    goal.setToRandomPositions(arm, random);
    goal.update();
    const auto target = goal.getGlobalLinkTransform(tip);
    ASSERT_TRUE(state.setFromIK(arm, target, tip, TIMEOUT)) << "pose " << i;
    EXPECT_LT(error(state, target), 1e-3) << "pose " << i;
    EXPECT_TRUE(state.satisfiesBounds(arm)) << "pose " << i;
  }
}

TEST_F(SetFromIK, keeps_joints_outside_the_group)
{
  RobotState state = home;
  state.setVariablePosition("panda_finger_joint1", 0.02);
  ASSERT_TRUE(state.setFromIK(arm, near_home(0.3).getGlobalLinkTransform(tip), tip, TIMEOUT));
  EXPECT_EQ(state.getVariablePosition("panda_finger_joint1"), 0.02);
}

TEST_F(SetFromIK, respects_consistency_limits)
{
  const auto target = near_home(0.1).getGlobalLinkTransform(tip);
  RobotState state = home;
  ASSERT_TRUE(state.setFromIK(arm, target, tip, Values(7, 0.15), TIMEOUT));
  Values found;
  state.copyJointGroupPositions(arm, found);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(std::abs(found[i] - seed[i]), 0.15);
  }
  state = home;
  EXPECT_FALSE(state.setFromIK(arm, target, tip, Values(7, 1e-4), 0.2));
}

TEST_F(SetFromIK, offers_further_solutions_after_a_callback_rejects_one)
{
  const auto target = near_home(1.0).getGlobalLinkTransform(tip);
  std::vector<Values> offered;
  RobotState state = home;
  ASSERT_TRUE(
    state.setFromIK(
      arm, target, tip, TIMEOUT,
      [&](RobotState *, const moveit::core::JointModelGroup *, const double * values) {
        offered.emplace_back(values, values + 7);
        return offered.size() == 3;
      }));
  EXPECT_LT(error(state, target), 1e-3);
  EXPECT_NE(offered[0], offered[2]);
}

TEST_F(SetFromIK, respects_the_timeout_if_the_callback_rejects_all_solutions)
{
  const auto start = Clock::now();
  RobotState state = home;
  EXPECT_FALSE(
    state.setFromIK(
      arm, near_home(1.0).getGlobalLinkTransform(tip), tip, 0.5,
      [](RobotState *, const moveit::core::JointModelGroup *, const double *) {return false;}));
  EXPECT_LT(seconds_since(start), 0.5 + 0.2 + 0.1);
}

TEST_F(SetFromIK, returns_an_approximate_solution_only_on_request)
{
  auto target = pose_of(home);
  target.position.x += 5;
  EXPECT_FALSE(solver->searchPositionIK(target, seed, 0.2, solution, code, options));
  EXPECT_EQ(code.val, Code::NO_IK_SOLUTION);
  options.return_approximate_solution = true;
  ASSERT_TRUE(solver->searchPositionIK(target, seed, 0.2, solution, code, options));
  RobotState state = home;
  state.setJointGroupPositions(arm, solution);
  state.update();
  EXPECT_GT(pose_of(state).position.x, pose_of(home).position.x);
}

TEST_F(SetFromIK, locks_redundant_joints)
{
  const auto locked = plugin_for({tip});
  ASSERT_TRUE(locked->setRedundantJoints(std::vector<std::string>{"panda_joint3"}));
  options.lock_redundant_joints = true;
  RobotState goal = near_home(0.3);
  goal.setVariablePosition("panda_joint3", home.getVariablePosition("panda_joint3"));
  goal.update();
  ASSERT_TRUE(locked->searchPositionIK(pose_of(goal), seed, TIMEOUT, solution, code, options));
  EXPECT_NEAR(solution[2], seed[2], 1e-9);
}

TEST_F(SetFromIK, reaches_two_tips_at_once)
{
  const std::vector<std::string> tips{"panda_link4", tip};
  const auto both = plugin_for(tips);
  const RobotState goal = near_home(0.3);
  std::vector<geometry_msgs::msg::Pose> targets;
  for (const auto & name : tips) {
    targets.push_back(tf2::toMsg(goal.getGlobalLinkTransform(name)));
  }
  ASSERT_TRUE(
    both->searchPositionIK(targets, seed, TIMEOUT, {}, solution, {}, code, options, &home));
  RobotState state = home;
  state.setJointGroupPositions(arm, solution);
  state.update();
  for (const auto & name : tips) {
    EXPECT_TRUE(
      state.getGlobalLinkTransform(name).isApprox(goal.getGlobalLinkTransform(name), 1e-3));
  }
}

TEST_F(SetFromIK, computes_forward_kinematics_and_rejects_unknown_links)
{
  const RobotState state = near_home(1.0);
  Values joints;
  state.copyJointGroupPositions(arm, joints);
  std::vector<geometry_msgs::msg::Pose> poses;
  ASSERT_TRUE(solver->getPositionFK({"panda_link3", tip}, joints, poses));
  EXPECT_EQ(poses, std::vector({pose_of(state, "panda_link3"), pose_of(state)}));
  EXPECT_FALSE(solver->getPositionFK({"no_such_link"}, joints, poses));
}

TEST_F(SetFromIK, solves_requests_of_four_threads_concurrently)
{
  std::atomic<int> reached{0};
  const auto target = pose_of(near_home(0.3));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
      [&] {
        for (int j = 0; j < 5; ++j) {
          Values found;
          Code result;
          reached += solver->searchPositionIK(target, seed, TIMEOUT, found, result, options);
        }
      });
  }
  for (auto & thread : threads) {
    thread.join();
  }
  EXPECT_EQ(reached, 20);
}

TEST_F(SetFromIK, rejects_cost_functions_and_seeds_of_wrong_size)
{
  EXPECT_FALSE(
    solver->searchPositionIK(
      {pose_of(home)}, seed, TIMEOUT, {}, solution, {},
      [](const auto &, const auto &, const auto *, const auto &) {return 0.0;}, code, options));
  EXPECT_FALSE(solver->searchPositionIK(pose_of(home), {0.0}, TIMEOUT, solution, code, options));
}

TEST_F(SetFromIK, rejects_solutions_of_a_node_with_another_robot)
{
  auto description = node->get_parameter("robot_description").as_string();
  const std::string length = "-0.316";
  description.replace(description.find(length), length.size(), "-0.326");
  const auto longer = load_model(description);
  const auto plugin = plugin_for({tip}, *longer);
  EXPECT_FALSE(plugin->searchPositionIK(pose_of(home), seed, TIMEOUT, solution, code, options));
  EXPECT_EQ(code.val, Code::FAILURE);
}

// A node stopped by SIGSTOP acts like a hanging node, or a killed one that DDS still lists.
TEST_F(SetFromIK, fails_fast_while_the_node_hangs_and_recovers_with_it)
{
  const char * pid = std::getenv("IK_NODE_PID");
  ASSERT_TRUE(pid);
  const auto target = pose_of(near_home(0.1));
  const auto solve = [&](double timeout) {
      return solver->searchPositionIK(target, seed, timeout, solution, code, options);
    };
  ASSERT_TRUE(solve(TIMEOUT));
  ASSERT_EQ(kill(std::atoi(pid), SIGSTOP), 0);
  auto start = Clock::now();
  EXPECT_FALSE(solve(0.3));
  EXPECT_EQ(code.val, Code::TIMED_OUT);
  EXPECT_LT(seconds_since(start), 0.3 + 0.2 + 0.1);  // timeout, answer_margin, slack
  start = Clock::now();
  EXPECT_FALSE(solve(TIMEOUT));
  EXPECT_EQ(code.val, Code::COMMUNICATION_FAILURE);
  EXPECT_LT(seconds_since(start), 0.3);
  ASSERT_EQ(kill(std::atoi(pid), SIGCONT), 0);
  start = Clock::now();
  while (!solve(TIMEOUT) && seconds_since(start) < 10) {}
  EXPECT_EQ(code.val, Code::SUCCESS);
}

int main(int argc, char ** argv)
{
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
