-- What two requests have in common that ask for the same mail: everything but the key and the times. A single address is a list of one.
create or replace function queued_request_hash(p_request jsonb) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_mail jsonb := p_request - array['queue', 'sendAt', 'expiresAt', 'requireClaim', 'deferAfterMs', 'idempotencyKey'];
  v_field text;
begin
  foreach v_field in array array['to', 'cc', 'bcc', 'replyTo'] loop
    if jsonb_typeof(v_mail -> v_field) = 'string' then
      v_mail := jsonb_set(v_mail, array[v_field], jsonb_build_array(v_mail -> v_field));
    elsif v_mail -> v_field = '[]' then
      v_mail := v_mail - v_field;
    end if;
  end loop;
  return encode(sha256(convert_to(v_mail::text, 'UTF8')), 'hex');
end
$$;
