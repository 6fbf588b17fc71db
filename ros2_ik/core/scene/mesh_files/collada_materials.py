"""The colours of materials in COLLADA files: only for the eye, so what is odd has none."""

from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.scene.mesh_files.collada_xml import ColladaIds

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NO_COLOR = np.full(3, np.nan)


def bound_materials(instance: 'Element') -> dict[str, str]:
    """Return the url of the material that each symbol of a geometry stands for."""
    return {material.get('symbol', ''): material.get('target', '')
            for material in instance.iter('instance_material')}


def diffuse_color(url: str, ids: ColladaIds) -> Array:
    """Return red, green, blue in [0, 1] of a material, (3,); NaN where it has none."""
    try:
        effect = ids.find('material', url).find('instance_effect')
        if effect is None:
            return NO_COLOR
        color = ids.find('effect', effect.get('url', '')).find(
            'profile_COMMON/technique/*/diffuse/color')
        numbers = np.array(((color.text if color is not None else '') or '').split(), dtype=float)
    except ValueError:
        return NO_COLOR
    valid = len(numbers) in (3, 4) and np.isfinite(numbers).all()
    return np.clip(numbers[:3], 0.0, 1.0) if valid else NO_COLOR
