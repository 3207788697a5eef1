from __future__ import annotations

import os
from pathlib import Path

from headway.sim.kernels import forget_stale


def test_machine_code_older_than_any_kernel_is_made_again(tmp_path: Path) -> None:
    """What a kernel calls may be in another file, which Numba does not compare."""
    kept, caller, callee = tmp_path / "__pycache__" / "caller.f-1.nbi", tmp_path / "caller.py", tmp_path / "callee.py"
    kept.parent.mkdir()
    for path, when in ((caller, 1000), (callee, 1000), (kept, 2000)):
        path.touch()
        os.utime(path, (when, when))
    forget_stale(tmp_path)
    assert kept.exists()
    os.utime(callee, (3000, 3000))
    forget_stale(tmp_path)
    assert not kept.exists() and caller.exists()
