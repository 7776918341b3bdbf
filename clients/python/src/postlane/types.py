"""What the server answers with. Members that a newer server adds are there, too; these are the ones that the client promises."""

from __future__ import annotations

from typing import Any, List, Literal, Optional

from typing_extensions import NotRequired, TypedDict

Format = Literal["html", "fragment", "markdown", "text", "json"]
FileStatus = Literal["uploaded", "processing", "chunked_processing", "completed", "failed"]
JobStatus = Literal[
    "pending", "waiting_batch", "processing", "paused_budget", "assembling", "completed", "failed", "cancelled"
]


class LastJob(TypedDict):
    id: str
    status: JobStatus
    endedAt: Optional[str]


class Progress(TypedDict):
    done: int
    total: int


class File(TypedDict):
    id: str
    name: str
    sizeBytes: int
    pages: int
    status: FileStatus
    phase: Optional[str]
    jobId: Optional[str]
    lastJob: Optional[LastJob]
    progress: Progress
    error: Optional[str]
    hasResult: bool
    price: int
    createdAt: str
    unreadablePages: List[int]
    hasText: Optional[bool]
    reference: Optional[str]


class Job(TypedDict):
    id: str
    status: JobStatus
    price: int


class JobDetails(TypedDict):
    id: str
    fileId: str
    bulkId: Optional[str]
    status: JobStatus
    error: Optional[str]
    endedAt: Optional[str]


class BulkJob(TypedDict):
    id: str
    fileId: str
    status: JobStatus


class BulkOrder(TypedDict):
    bulkId: str
    reference: Optional[str]
    price: int
    jobs: List[BulkJob]


class BulkCounts(TypedDict):
    waiting: int
    processing: int
    completed: int
    failed: int
    cancelled: int


class BulkState(TypedDict):
    id: str
    reference: Optional[str]
    createdAt: str
    ended: bool
    counts: BulkCounts


class Link(TypedDict):
    text: str
    href: str


class PictureUse(TypedDict):
    alt: str
    picture: Optional[int]


class Cell(TypedDict):
    text: NotRequired[str]
    header: bool
    colspan: NotRequired[int]
    rowspan: NotRequired[int]
    links: NotRequired[List[Link]]


class Item(TypedDict):
    term: NotRequired[str]
    blocks: "List[Block]"


class Block(TypedDict):
    kind: str
    page: Optional[int]
    id: NotRequired[str]
    level: NotRequired[int]
    text: NotRequired[str]
    links: NotRequired[List[Link]]
    pictures: NotRequired[List[PictureUse]]
    formulas: NotRequired[List[str]]
    fields: NotRequired[List[Any]]
    ordered: NotRequired[bool]
    start: NotRequired[int]
    items: NotRequired[List[Item]]
    rows: NotRequired[List[List[Cell]]]
    caption: NotRequired[str]
    blocks: "NotRequired[List[Block]]"


class Picture(TypedDict):
    index: int
    mediaType: str
    bytes: int
    width: Optional[int]
    height: Optional[int]
    data: NotRequired[str]


class Document(TypedDict):
    title: str
    lang: str
    pictures: List[Picture]
    blocks: List[Block]


class LoggedMail(TypedDict):
    id: str
    created_at: str
    updated_at: str
    category: str
    source: Optional[str]
    to_addresses: List[str]
    subject: Optional[str]
    status: str
    error: Optional[str]
    failed_over: bool
    provider: Optional[str]
    provider_message_id: Optional[str]
    idempotency_key: Optional[str]
    rows_of_mail: NotRequired[int]


class MailChanges(TypedDict):
    rows: List[LoggedMail]
    changedUntil: str


class SendResult(TypedDict):
    ok: bool
    status: str
    sendId: NotRequired[str]
    queueId: NotRequired[str]
    provider: NotRequired[str]
    providerMessageId: NotRequired[Optional[str]]
    failedOver: NotRequired[bool]
    idempotencyKey: str
    #: How often the client asked.
    attempts: int
    suppressedRecipients: NotRequired[List[str]]
