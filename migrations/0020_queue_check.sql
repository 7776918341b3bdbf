-- One check of a queued request instead of four: every statement parses the conditions of a table's checks again, and a function's
-- once. Not validated: the rows met the four.
alter table email_send_queue
  drop constraint email_send_queue_state_check,
  drop constraint email_send_queue_check,
  drop constraint email_send_queue_check1,
  drop constraint email_send_queue_check2,
  add constraint email_send_queue_words
    check (is_queued_request(state, lease is not null, due_at is not null, ended_at is not null, request is not null)) not valid;
