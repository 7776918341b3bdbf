-- Credits: what a customer has, what is set aside for work under way, and what was charged (document 2, "Credit rules";
-- document 3, "Funds hold"). Every function locks the customer's row first, so that all of one customer's money moves one
-- after the other; not against the key locks of foreign keys (`for no key update`), or two inserts that each hold one and
-- then want the row would wait for each other. 1 credit a page; the free plan has 10 pages in a lifetime and no credits.

-- Work under way that funds are set aside for. `job_id` is the conversion job, flyer job or mail; it may not exist yet.
create table funds_holds (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique,
  customer_id uuid not null references customers (id),
  credits integer not null default 0 check (credits >= 0),
  free_pages integer not null default 0 check (free_pages >= 0),
  state text not null default 'held' check (state in ('held', 'released', 'settled')),
  -- Why it was closed: completed, cancelled, failed, …
  outcome text,
  -- Past this, a hold sets nothing aside until it is refreshed.
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz
);

create index funds_holds_held on funds_holds (customer_id) where state = 'held';

-- What was charged, once for each piece of work.
create table credit_charges (
  id uuid primary key default gen_random_uuid(),
  job_id uuid not null unique,
  customer_id uuid not null references customers (id),
  credits integer not null default 0 check (credits >= 0),
  free_pages integer not null default 0 check (free_pages >= 0),
  created_at timestamptz not null default now()
);

create index credit_charges_customer on credit_charges (customer_id, created_at desc);

-- What the customer could spend now: credits and free pages that no live hold sets aside, `p_but_for`'s left out.
create function available_funds(p_customer_id uuid, p_but_for uuid default null)
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

-- Atomic credit deduction; raises where the credits that no hold sets aside do not suffice (document 2).
create function deduct_credits(p_customer_id uuid, p_amount integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_amount is null or p_amount < 0 then
    raise exception 'an amount of credits cannot be %', p_amount using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.credits >= p_amount) then
    raise exception 'insufficient credits' using errcode = 'PL402';
  end if;
  update customers set credits_remaining = coalesce(credits_remaining, 0) - p_amount
  where id = p_customer_id and p_amount > 0;
end
$$;

-- Atomic use of free pages; raises where the lifetime limit (10) would be exceeded (document 2).
create function use_free_pages(p_customer_id uuid, p_pages integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_pages is null or p_pages < 0 then
    raise exception 'a number of pages cannot be %', p_pages using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.free_pages >= p_pages) then
    raise exception 'the lifetime limit of free pages would be exceeded' using errcode = 'PL402';
  end if;
  update customers set lifetime_free_pages_used = lifetime_free_pages_used + p_pages
  where id = p_customer_id and p_pages > 0;
end
$$;

-- Sets funds for `p_pages` pages aside for the work `p_job_id`; false where they do not suffice, or were given back before.
-- The same call again changes nothing.
create function place_hold(p_customer_id uuid, p_job_id uuid, p_pages integer, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f record;
  v_state text;
begin
  perform from customers where id = p_customer_id for no key update;
  select h.state into v_state from funds_holds h where h.job_id = p_job_id;
  if found then
    return v_state <> 'released';
  end if;
  select * into f from available_funds(p_customer_id);
  if not found or greatest(f.credits, f.free_pages) < p_pages then
    return false;
  end if;
  insert into funds_holds (job_id, customer_id, credits, free_pages, expires_at) values (
    p_job_id, p_customer_id, case when f.plan = 'paid' then p_pages else 0 end,
    case when f.plan = 'paid' then 0 else p_pages end, clock_timestamp() + p_window
  );
  return true;
end
$$;

-- Makes a hold last for `p_window` from now, shorter or longer than before. One that has expired is set aside anew; false
-- where the funds do not suffice any more, or there is no open hold.
create function refresh_hold(p_job_id uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id and state = 'held';
  if not found then
    return false;
  end if;
  if h.expires_at <= clock_timestamp() and not exists (
    select from available_funds(h.customer_id, p_job_id) f
    where f.credits >= h.credits and f.free_pages >= h.free_pages
  ) then
    return false;
  end if;
  update funds_holds set expires_at = clock_timestamp() + p_window where id = h.id;
  return true;
end
$$;

-- Gives back what was set aside; true for the call that did it.
create function release_hold(p_job_id uuid, p_outcome text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  update funds_holds set state = 'released', outcome = p_outcome, closed_at = clock_timestamp()
  where job_id = p_job_id and state = 'held';
  return found;
end
$$;

-- Turns a hold into a charge, once. `p_pages` (null: as held) may be less than what was held, never more. Answers what
-- is true after it: `settled` (by this call or an earlier one), `released`, `insufficient` (the hold had expired and its
-- funds are spent) or `none`.
create function settle_hold(p_job_id uuid, p_pages integer default null) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  h funds_holds;
  v_credits integer;
  v_free_pages integer;
begin
  perform from customers where id = (select customer_id from funds_holds where job_id = p_job_id) for no key update;
  select * into h from funds_holds where job_id = p_job_id;
  if not found then
    return 'none';
  end if;
  if h.state <> 'held' then
    return h.state;
  end if;
  v_credits := least(h.credits, coalesce(p_pages, h.credits));
  v_free_pages := least(h.free_pages, coalesce(p_pages, h.free_pages));
  if h.expires_at <= clock_timestamp() and not exists (
    select from available_funds(h.customer_id, p_job_id) f
    where f.credits >= v_credits and f.free_pages >= v_free_pages
  ) then
    return 'insufficient';
  end if;
  update funds_holds set state = 'settled', outcome = 'completed', closed_at = clock_timestamp() where id = h.id;
  update customers set
    credits_remaining = case when v_credits > 0 then credits_remaining - v_credits else credits_remaining end,
    lifetime_free_pages_used = lifetime_free_pages_used + v_free_pages
  where id = h.customer_id;
  insert into credit_charges (job_id, customer_id, credits, free_pages)
  values (p_job_id, h.customer_id, v_credits, v_free_pages);
  return 'settled';
end
$$;

select secure_table('funds_holds');
select secure_table('credit_charges');
select secure_function('available_funds(uuid, uuid)');
select secure_function('deduct_credits(uuid, integer)');
select secure_function('use_free_pages(uuid, integer)');
select secure_function('place_hold(uuid, uuid, integer, interval)');
select secure_function('refresh_hold(uuid, interval)');
select secure_function('release_hold(uuid, text)');
select secure_function('settle_hold(uuid, integer)');
