-- The sender token that queued a request: a program reads, moves and cancels its own requests alone.
-- Rules: docs/reference/specification/programs-in-front.md (FRONT-2).

-- The id of the token that queued it; null for everybody else.
alter table email_send_queue add column sender uuid;
