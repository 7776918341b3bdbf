-- Customers with mails to be converted; `is_busy`: one of the mails is being converted, with a heartbeat since `p_since`. Goes from
-- customer to customer by the index. A step of `claim_converting_mail`.
create or replace function owners_of_converting_mails(p_since timestamptz)
returns table (customer_id uuid, is_busy boolean)
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with recursive owners as (
    (select m.customer_id from intake_mails m where m.step = 'converting' order by m.customer_id limit 1)
    union all
    select (
      select m.customer_id from intake_mails m
      where m.step = 'converting' and m.customer_id > o.customer_id
      order by m.customer_id limit 1
    )
    from owners o where o.customer_id is not null
  )
  select o.customer_id, exists (
    select from intake_mails m
    where m.customer_id = o.customer_id and m.step = 'converting' and m.lease is not null and m.heartbeat_at >= p_since
  )
  from owners o where o.customer_id is not null;
end
$$;
