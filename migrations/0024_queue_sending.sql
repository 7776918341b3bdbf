-- Requests of senders that are silent, by when their lease ended: `renew_queued_emails` looks for them. Without those whose turn has come again.
create index concurrently if not exists email_send_queue_sending on email_send_queue (due_at) where state = 'sending' and due_at > send_at;
