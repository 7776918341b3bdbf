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
    LoggedMail,
    MailChanges,
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
    "LoggedMail",
    "MailChanges",
    "Postlane",
    "PostlaneError",
    "SendResult",
]
