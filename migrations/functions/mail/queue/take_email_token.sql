-- Takes one token of a provider for a fail-over of the queue, if there is one now (QUEUE-5). Called by `SendQueue`.
create or replace function take_email_token(p_provider text, p_rate float8, p_least float8, p_most float8) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  t record;
begin
  if p_rate <= 0 then
    return true;
  end if;
  t := email_tokens(p_provider, p_rate, p_least, p_most, v_now);
  if t.count = 0 then
    return false;
  end if;
  update email_pace x set free_at = greatest(x.free_at, t.first_at) + t.spacing, reserved_at = t.first_at + 4 * t.spacing, taken = x.taken + 1
  where x.provider = p_provider;
  return true;
end
$$;
