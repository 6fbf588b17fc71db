"""
Messages of other packages that a goal is made of, for where ROS is not installed.

Those of moveit_msgs and object_recognition_msgs are not here: the folder interfaces/ has them.
"""

FOREIGN = {
    'builtin_interfaces/Duration': 'int32 sec\nuint32 nanosec',
    'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec',
    'diagnostic_msgs/KeyValue': 'string key\nstring value',
    'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z',
    'geometry_msgs/Point32': 'float32 x\nfloat32 y\nfloat32 z',
    'geometry_msgs/Polygon': 'Point32[] points',
    'geometry_msgs/Pose': 'Point position\nQuaternion orientation',
    'geometry_msgs/PoseStamped': 'std_msgs/Header header\nPose pose',
    'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1',
    'geometry_msgs/Transform': 'Vector3 translation\nQuaternion rotation',
    'geometry_msgs/Twist': 'Vector3 linear\nVector3 angular',
    'geometry_msgs/Vector3': 'float64 x\nfloat64 y\nfloat64 z',
    'geometry_msgs/Wrench': 'Vector3 force\nVector3 torque',
    'sensor_msgs/JointState': 'std_msgs/Header header\nstring[] name\nfloat64[] position\n'
                              'float64[] velocity\nfloat64[] effort',
    'sensor_msgs/MultiDOFJointState': 'std_msgs/Header header\nstring[] joint_names\n'
                                      'geometry_msgs/Transform[] transforms\n'
                                      'geometry_msgs/Twist[] twist\n'
                                      'geometry_msgs/Wrench[] wrench',
    'shape_msgs/Mesh': 'MeshTriangle[] triangles\ngeometry_msgs/Point[] vertices',
    'shape_msgs/MeshTriangle': 'uint32[3] vertex_indices',
    'shape_msgs/Plane': 'float64[4] coef',
    'shape_msgs/SolidPrimitive': 'uint8 type\nfloat64[<=3] dimensions\n'
                                 'geometry_msgs/Polygon polygon',
    'std_msgs/Header': 'builtin_interfaces/Time stamp\nstring frame_id',
    'trajectory_msgs/JointTrajectory': 'std_msgs/Header header\nstring[] joint_names\n'
                                       'JointTrajectoryPoint[] points',
    'trajectory_msgs/JointTrajectoryPoint': 'float64[] positions\nfloat64[] velocities\n'
                                            'float64[] accelerations\nfloat64[] effort\n'
                                            'builtin_interfaces/Duration time_from_start',
}
