-- Requests under way, by the end of their lease: `renew_queued_emails` looks for those of dead senders. One that it has found is due again and not in the index.
create index concurrently if not exists email_send_queue_sending on email_send_queue (due_at) where state = 'sending' and due_at > send_at;
