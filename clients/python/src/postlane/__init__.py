"""Client of Postlane: documents in, accessible HTML, Markdown or data out; and mail that is sent once."""

from ._async import AsyncPostlane
from ._sync import Postlane
from .errors import PostlaneError
from .types import (
    Block,
    BulkCounts,
    BulkOrder,
    BulkState,
    Document,
    File,
    Format,
    Job,
    JobDetails,
    LastJob,
    SendResult,
)

__all__ = [
    "AsyncPostlane",
    "Block",
    "BulkCounts",
    "BulkOrder",
    "BulkState",
    "Document",
    "File",
    "Format",
    "Job",
    "JobDetails",
    "LastJob",
    "Postlane",
    "PostlaneError",
    "SendResult",
]
