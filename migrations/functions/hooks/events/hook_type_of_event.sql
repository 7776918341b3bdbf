-- The type under which an event of a provider goes to hooks; null for one that does not. The library's own acceptance went out when its
-- row was written: the provider's word for it adds nothing.
create or replace function hook_type_of_event(p_event text, p_outcome text) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return case
    when p_event = 'bounce_transient' then 'email.bounced'
    when p_event = 'sent' and p_outcome = 'sent' then null
    when p_event in (
      'sent', 'delivered', 'delivery_delayed', 'bounced', 'complained', 'failed', 'suppressed', 'opened', 'clicked'
    ) then 'email.' || p_event
  end;
end
$$;
