-- The steps of `record_email_events`. Rules: docs/reference/specification/delivery.md.

-- The events of one mail, in the order in which they came.
create type events_of_mail as (provider text, provider_message_id text, events delivery_event[]);

-- What became of one event.
create type recorded_event as (
  ordinal integer,
  status text,
  -- It claimed the one alert of its mail's row.
  alert boolean,
  -- It made the row, as a backfill.
  backfilled boolean,
  category text,
  source text,
  -- What it suppresses, `reason:address`.
  marks text[],
  kept email_events,
  -- What goes to event hooks; null where there is none.
  for_hooks hook_event
);
