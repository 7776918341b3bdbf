-- What waits in the queue since a provider refused it, or did not answer clearly: for the alarms, since a wait moves its due time on.
create index concurrently if not exists email_send_queue_waits on email_send_queue (state, lane, greatest(first_taken_at, send_at))
where due_at is not null and (refusals > 0 or state = 'deferred');
