-- How many requests a provider may be asked within the next quarter of a second, when the first of them, and how far apart (QUEUE-5); locks the provider's
-- pace, if it has one. Tokens are evenly spaced; one in four is the queue's whatever direct sends take. A limiter without a memory is silent for a second.
-- A step of `take_queued_emails`.
create or replace function email_tokens(
  p_provider text, p_rate float8, p_least float8, p_most float8, p_now timestamptz,
  out count integer, out first_at timestamptz, out spacing interval, out taken bigint
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  p email_pace;
begin
  if p_rate <= 0 then
    count := 2147483647;
    first_at := p_now;
    spacing := '0';
    taken := 0;
    return;
  end if;
  select * into p from email_pace x where x.provider = p_provider for update;
  if not found then
    insert into email_pace as x (provider, free_at, reserved_at)
    values (p_provider, p_now + interval '1 second', p_now + interval '1 second')
    on conflict (provider) do update set provider = x.provider
    returning * into p;
  end if;
  spacing := make_interval(secs => 1 / email_rate(p_rate, p_least, p_most, p.rate));
  first_at := greatest(p_now, p.held_until, least(p.free_at, p.reserved_at));
  taken := p.taken;
  count := case
    when first_at >= p_now + interval '250 milliseconds' then 0
    -- The reserved token is one.
    when first_at < greatest(p_now, p.held_until, p.free_at) then 1
    else ceil(extract(epoch from p_now + interval '250 milliseconds' - first_at) / extract(epoch from spacing))
  end;
end
$$;
