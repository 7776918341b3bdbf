-- In what `p_pages` pages of a hold can be paid, `credits` or `free_pages`: as the customer's plan has it now, else as they were set
-- aside under the plan before; null where neither suffices. What other live holds set aside is theirs.
create or replace function hold_currency(h funds_holds, p_pages integer) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select x.currency
  from customers c
  cross join lateral (
    select coalesce(sum(o.credits), 0) as credits, coalesce(sum(o.free_pages), 0) as free_pages
    from funds_holds o
    where o.customer_id = c.id and o.state = 'held' and o.expires_at > clock_timestamp() and o.job_id <> h.job_id
  ) o
  cross join lateral (values
    ('credits', coalesce(c.credits_remaining, 0) - o.credits, c.plan_type = 'paid', h.credits > 0),
    ('free_pages', 10 - c.lifetime_free_pages_used - o.free_pages, c.plan_type = 'free', h.free_pages > 0)
  ) as x(currency, available, is_plan, is_held)
  where c.id = h.customer_id and (x.is_plan or x.is_held) and (p_pages = 0 or x.available >= p_pages)
  order by x.is_plan desc
  limit 1
$$;
