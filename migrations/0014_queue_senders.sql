-- Whose a queued request is: a program with a sender token reads, moves and cancels its own alone.
-- Rules: docs/reference/specification/programs-in-front.md (FRONT-2).

-- The id of the token that queued it; null for everybody else.
alter table email_send_queue add column sender uuid;
