-- Convert-by-email: replies whose outcome nobody knows are counted by themselves, and a paid result outlives its failed reply.

alter table intake_replies
  -- Tries of which nobody knows whether they arrived.
  add column unknowns integer not null default 0;

alter table intake_mails drop constraint intake_mails_outcome_check;
alter table intake_mails add constraint intake_mails_outcome_check check (outcome in (
  'success', 'error', 'insufficient', 'unregistered', 'no_attachment', 'unsupported', 'too_large', 'misaddressed',
  'duplicate', 'automatic', 'unverified', 'no_sender', 'limited', 'suppressed', 'malformed'
));

drop function claim_reply(uuid, interval);

-- As in 0027, with the tries of unknown outcome.
create function claim_reply(p_lease uuid, p_for interval)
returns table (
  id uuid, mail_id uuid, recipient text, content jsonb, as_link boolean, attempts integer, unknowns integer,
  created_at timestamptz, message_id text, thread_references text, subject text, filename text, result_key text,
  result_bytes bigint
)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with n as materialized (
    select x.id from intake_replies x
    where x.status = 'queued' and x.not_before <= clock_timestamp()
      and not exists (
        select from intake_replies e where e.mail_id = x.mail_id and e.status = 'queued' and e.created_at < x.created_at
      )
    order by x.not_before
    limit 1
    for no key update skip locked
  )
  update intake_replies r set lease = p_lease, attempts = r.attempts + 1, not_before = clock_timestamp() + p_for
  from n, intake_mails m
  where r.id = n.id and m.id = r.mail_id
  returning r.id, r.mail_id, r.recipient, r.content, r.as_link, r.attempts, r.unknowns,
    r.created_at, m.message_id, m.thread_references, m.subject,
    m.filename, m.result_key, m.result_bytes
$$;

drop function retry_reply(uuid, uuid, interval, text, boolean);

-- A reply did not go out now: it is tried again after `p_after`, as a link if `p_as_link`; `p_unknown`: nobody knows whether it did.
create function retry_reply(
  p_id uuid, p_lease uuid, p_after interval, p_error text, p_as_link boolean, p_unknown boolean default false
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set
    lease = null, not_before = clock_timestamp() + p_after, error = p_error, as_link = as_link or p_as_link,
    unknowns = unknowns + case when p_unknown then 1 else 0 end
  where id = p_id and lease = p_lease and status = 'queued';
  return found;
end
$$;

-- Mails that have ended and whose replies have gone, with objects still there; `everything` where the result may go, too: it was
-- attached, or the time is over for which it stays behind its link, or after a reply that failed.
create or replace function mails_to_clean(p_limit integer, p_link_lives interval) returns table (id uuid, everything boolean)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, w.everything
  from intake_mails m
  cross join lateral (
    select m.result_key is null or not exists (
      select from intake_replies r
      where r.mail_id = m.id and r.kind = 'success' and (
        (r.as_link and m.ended_at >= clock_timestamp() - p_link_lives)
        or (r.status = 'failed' and r.ended_at >= clock_timestamp() - p_link_lives))
    ) as everything
  ) w
  where m.step = 'ended' and m.cleaned is distinct from 'all' and (m.cleaned is null or w.everything)
    and not exists (select from intake_replies r where r.mail_id = m.id and r.status = 'queued')
  order by m.ended_at
  limit p_limit
$$;

-- Results of a customer's mails that stand behind a link, whether a reply brought it or none did: newest first, and until when.
create function kept_mail_results(p_customer_id uuid, p_link_lives interval)
returns table (id uuid, name text, pages integer, credits integer, converted_at timestamptz, reply text, expires_at timestamptz)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, m.filename, j.total_pages, j.credits_charged, m.ended_at, r.status,
    case when r.status = 'failed' then r.ended_at else m.ended_at end + p_link_lives
  from intake_mails m
  join intake_replies r on r.mail_id = m.id and r.kind = 'success' and (r.as_link or r.status <> 'sent')
  join conversion_jobs j on j.id = m.id
  where m.customer_id = p_customer_id and m.outcome = 'success' and m.result_key is not null
    and m.cleaned is distinct from 'all'
    and case when r.status = 'failed' then r.ended_at else m.ended_at end > clock_timestamp() - p_link_lives
  order by m.ended_at desc
  limit 100
$$;

create index intake_mails_customer on intake_mails (customer_id, ended_at desc) where customer_id is not null;

select secure_function(f) from unnest(array[
  'claim_reply(uuid, interval)', 'retry_reply(uuid, uuid, interval, text, boolean, boolean)',
  'kept_mail_results(uuid, interval)'
]::regprocedure[]) as f;
