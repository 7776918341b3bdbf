from __future__ import annotations

from typing import Any, Optional, Sequence


class PostlaneError(Exception):
    """What went wrong with a call. ``status`` is 0 where there was no answer."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 0,
        request_id: Optional[str] = None,
        retryable: bool = False,
        issues: Sequence[Any] = (),
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.status = status
        self.request_id = request_id
        self.retryable = retryable
        self.issues = list(issues)
        #: How often the call was made; 0 where it was not.
        self.attempts = 0
