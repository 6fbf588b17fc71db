"""The collision library under the name it has here: coal, called hppfcl before version 3."""

try:
    import coal
    from coal import StdVec_Vec3s as PointList, Transform3s as Placement
except ImportError:
    import hppfcl as coal
    from hppfcl import StdVec_Vec3f as PointList, Transform3f as Placement

__all__ = ['PointList', 'Placement', 'coal']
