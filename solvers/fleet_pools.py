"""Pools from what is known of GPUs: MIG profiles with their placements."""

from __future__ import annotations

from fractions import Fraction

from formulas.hardware import Gpu, MigProfile, find_mig_profile, mig_profiles
from solvers.fleet_model import Pool, Profile


def pool_of(
    name: str, gpu: Gpu, nodes: int, node_gpus: int, price: Fraction, cut: tuple[str, ...] = ()
) -> Pool:
    """The pool; its GPUs may be cut into the named profiles. Problem for one that is not known."""
    known = [find_mig_profile(gpu, profile) for profile in cut]
    units = known[0].placement_units if known else 0
    slices = known[0].gpu_slices if known else 0
    profiles = tuple(_profile(row) for row in {row.name: row for row in known}.values())
    return Pool(name, nodes, node_gpus, price, gpu.name, profiles, units, slices)


def plain_profiles(gpu: Gpu) -> tuple[str, ...]:
    """The profiles of a GPU that differ in size only: none for media or graphics."""
    special = ("media_extensions", "graphics")
    rows = mig_profiles(gpu).values()
    names = (row.name for row in rows if not any(row.row.get(key) for key in special))
    return tuple(name for name in names if not name.endswith("-me"))


def _profile(row: MigProfile) -> Profile:
    slices, media = row.row["compute_slices"], bool(row.row.get("media_extensions"))
    starts = tuple(row.placement_starts)
    return Profile(row.name, starts, row.placement_size, slices, row.instances, media)
