-- What the customer could spend now: credits and free pages that no live hold sets aside, `p_but_for`'s left out.
create or replace function available_funds(p_customer_id uuid, p_but_for uuid default null)
returns table (plan text, credits integer, free_pages integer)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select
    c.plan_type,
    case when c.plan_type = 'paid' then coalesce(c.credits_remaining, 0) - coalesce(h.credits, 0)::integer else 0 end,
    case when c.plan_type = 'free' then 10 - c.lifetime_free_pages_used - coalesce(h.free_pages, 0)::integer else 0 end
  from customers c
  left join lateral (
    select sum(x.credits) as credits, sum(x.free_pages) as free_pages
    from funds_holds x
    where x.customer_id = c.id and x.state = 'held' and x.expires_at > clock_timestamp()
      and x.job_id is distinct from p_but_for
  ) h on true
  where c.id = p_customer_id
$$;
