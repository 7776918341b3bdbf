-- The entries of `record_email_events`.
create or replace function delivery_events_of(p_events jsonb) returns setof delivery_event
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return query
  select
    x.ord::integer,
    x.provider,
    x.provider_message_id,
    x.event,
    case when x.event <> 'deferred' then email_status_rank(x.event) end,
    x.occurred_at,
    email_addresses(x.recipients),
    x.subject,
    email_bare_address(x."from"),
    x.reason,
    x.raw,
    x.key_tag,
    case
      when x.event = 'bounced' and lower(x.bounce_type) = 'permanent' then 'hard_bounce'
      when x.event = 'complained' then 'complaint'
    end,
    case when jsonb_typeof(x.suppress) = 'array' then email_addresses(x.suppress) end,
    coalesce(x.alertable, true),
    coalesce(x.backfill, false),
    x.category,
    coalesce(x.listed, false)
  from rows from (jsonb_to_recordset(p_events) as (
    provider text, provider_message_id text, event text, occurred_at timestamptz, recipients jsonb, subject text,
    "from" text, reason text, raw jsonb, key_tag text, bounce_type text, suppress jsonb, alertable boolean,
    backfill boolean, category text, listed boolean
  )) with ordinality as x(
    provider, provider_message_id, event, occurred_at, recipients, subject,
    "from", reason, raw, key_tag, bounce_type, suppress, alertable,
    backfill, category, listed, ord
  );
end
$$;
