-- Claims the message of the oldest bulk order that has ended, for `p_lease`, and at each further claim for twice as long, up to 64
-- times. A message that did not go out, or has lost its sender, is claimed again after that, `p_max_attempts` times in all.
create or replace function claim_bulk_message(p_lease interval, p_max_attempts integer)
returns table (bulk_id uuid, email text, ended_at timestamptz, attempts integer, items jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  o bulk_orders;
begin
  select b.* into o from bulk_orders b
  where b.notified_at is null and b.attempts < p_max_attempts
    and (b.notifying_until is null or b.notifying_until <= clock_timestamp())
    and not exists (
      select from bulk_items i where i.bulk_id = b.id and bulk_outcome(i.file_id, i.job_id) is null
    )
  order by b.created_at
  limit 1
  for no key update of b skip locked;
  if not found then
    return;
  end if;
  update bulk_orders b set
    ended_at = coalesce(b.ended_at, clock_timestamp()), notifying_until = clock_timestamp() + p_lease * least(power(2, b.attempts), 64),
    attempts = b.attempts + 1
  where b.id = o.id
  returning b.* into o;
  return query
    select o.id, case when c.deleted_at is null then c.email end, o.ended_at, o.attempts, coalesce(l.items, '[]')
    from customers c
    left join lateral (
      select jsonb_agg(
        jsonb_build_object('fileId', i.file_id, 'fileName', f.name, 'outcome', bulk_outcome(i.file_id, i.job_id),
          'noModelPages', case when f.job_id = i.job_id then cardinality(f.no_model_pages) else 0 end,
          'deleted', f.deleted_at is not null)
        order by i.place
      ) as items
      from bulk_items i join files f on f.id = i.file_id
      where i.bulk_id = o.id
    ) l on true
    where c.id = o.customer_id;
end
$$;
