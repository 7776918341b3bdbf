-- Removes a person from the answers that are kept for repeated calls: every answer to the account, and the address in answers about shares,
-- which list unsent recipients. Called by `erase_person`. `p_customer_id`: the account, or null.
create or replace function erase_request_keys(p_email text, p_customer_id uuid) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from request_keys where customer_id = p_customer_id;
  update request_keys k set answer = jsonb_set(k.answer, '{unsentRecipients}', (
    select coalesce(jsonb_agg(x) filter (where lower_address(x) <> p_email), '[]')
    from jsonb_array_elements_text(k.answer -> 'unsentRecipients') as x
  ))
  where position(p_email in lower_address(k.answer ->> 'unsentRecipients')) > 0;
$$;
