-- The number of the transaction lock that orders the writers of one message.
create or replace function campaign_message_lock(p_provider_message_id text) returns bigint
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select hashtextextended('postlane.campaign_message ' || p_provider_message_id, 0)
$$;
