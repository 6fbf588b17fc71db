"""Client of a running node for a Panda: print the joint values for a pose of the hand."""

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import rclpy

from ros2_ik.srv import ComputeIK

rclpy.init()
node = rclpy.create_node('ik_client')
compute_ik = node.create_client(ComputeIK, '/ros2_ik/compute_ik')
compute_ik.wait_for_service()
pose = Pose(position=Point(x=0.45, y=0.1, z=0.3), orientation=Quaternion(x=1.0, w=0.0))
future = compute_ik.call_async(ComputeIK.Request(targets=[PoseStamped(pose=pose)]))
rclpy.spin_until_future_complete(node, future)
answer = future.result()
joints = answer.solution.joint_state
print(answer.message, dict(zip(joints.name, joints.position, strict=True)))
rclpy.shutdown()
