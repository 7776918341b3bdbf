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
returns table (
  id uuid, name text, pages integer, unreadable_pages jsonb, has_text boolean, credits integer, converted_at timestamptz, reply text,
  expires_at timestamptz
)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select m.id, m.filename, j.total_pages, coalesce(r.content -> 'unreadablePages', '[]'),
    coalesce((r.content ->> 'hasText')::boolean, true), j.credits_charged, m.ended_at, r.status,
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

-- What else makes two deliveries one mail: the signatures that it carries, which nobody but its domain can make.
create table intake_identities (
  -- SHA-256 over the signature's bytes and the sender.
  identity text primary key,
  mail_id uuid not null references intake_mails (id) on delete cascade
);

create index intake_identities_mail on intake_identities (mail_id);

select secure_table('intake_identities'::regclass);

drop function identify_mail(uuid, uuid, text, text, text, text, text, text, integer);

-- As in 0021; a mail one of whose signatures another mail of the sender carried is that mail, whatever its Message-ID.
-- Claims the identity of a mail before any work for it. Answers `claimed` (by this mail, now or earlier), `duplicate`
-- (another mail has it; this one has ended), `limited` (more than `p_limit` mails of the sender within an hour; it has ended)
-- or `stale`.
create function identify_mail(
  p_id uuid, p_lease uuid, p_identity text, p_message_id text, p_sender text, p_sha256 text, p_subject text,
  p_references text, p_limit integer, p_signatures text[] default '{}'
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step <> 'received' then
    return 'stale';
  end if;
  begin
    -- In one order, so that two deliveries of one mail do not wait for each other.
    insert into intake_identities (identity, mail_id)
    select s, p_id from (select distinct unnest(p_signatures) as s order by 1) x
    on conflict do nothing;
    if exists (select from intake_identities i where i.identity = any (p_signatures) and i.mail_id <> p_id) then
      raise unique_violation;
    end if;
    update intake_mails set
      identity = p_identity, message_id = p_message_id, sender = p_sender, content_sha256 = p_sha256,
      subject = p_subject, thread_references = p_references
    where id = p_id;
  exception when unique_violation then
    update intake_mails set
      step = 'ended', outcome = 'duplicate', sender = p_sender, message_id = p_message_id, lease = null,
      reason = 'the same mail was delivered before', ended_at = clock_timestamp()
    where id = p_id;
    return 'duplicate';
  end;
  if (
    select count(*) from (
      select from intake_mails x
      where x.sender = p_sender and x.received_at > m.received_at - interval '1 hour' and x.received_at <= m.received_at
        and x.id <> p_id and x.outcome is distinct from 'duplicate' and x.outcome is distinct from 'limited'
      limit p_limit
    ) recent
  ) >= p_limit then
    update intake_mails set
      step = 'ended', outcome = 'limited', lease = null, ended_at = clock_timestamp(),
      reason = format('more than %s mails of the sender within an hour', p_limit)
    where id = p_id;
    return 'limited';
  end if;
  return 'claimed';
end
$$;

drop function end_mail(uuid, uuid, text, text, uuid, text, integer, text, text, jsonb, boolean);

create index intake_replies_to on intake_replies (recipient, created_at)
where kind in ('no-attachment', 'unsupported-file', 'misaddressed');

-- As in 0021. Of replies that tell how to send a file (`p_brake` set) so many go to one address within an hour: whoever answers each
-- of them by a program gets no more.
-- Ends a mail without a result: nothing is charged, what was set aside is given back, the reply (null: none) is queued and a
-- conversion that had begun is logged (`p_error`), in one transaction. One to a stranger (`p_stranger`) goes out once a day.
-- Answers whether this lease ended it, now or earlier.
create function end_mail(
  p_id uuid, p_lease uuid, p_outcome text, p_reason text, p_customer_id uuid, p_filename text, p_file_bytes integer,
  p_error text, p_recipient text, p_reply jsonb, p_stranger boolean, p_brake integer default null
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  v_braked boolean := false;
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease then
    return false;
  end if;
  if m.step = 'ended' then
    return true;
  end if;
  if p_reply is not null and p_brake is not null then
    -- One at a time counts for one customer.
    perform from customers where email = p_recipient for no key update;
    v_braked := p_brake <= (
      select count(*) from (
        select from intake_replies r
        where r.recipient = p_recipient and r.kind in ('no-attachment', 'unsupported-file', 'misaddressed')
          and r.created_at > clock_timestamp() - interval '1 hour'
        limit p_brake
      ) recent
    );
  end if;
  perform release_hold(p_id, p_outcome);
  update intake_mails set
    step = 'ended', outcome = p_outcome,
    reason = p_reason || case when v_braked then format(' (not answered: %s such replies within an hour)', p_brake) else '' end,
    customer_id = coalesce(p_customer_id, customer_id),
    filename = coalesce(p_filename, filename), file_bytes = coalesce(p_file_bytes, file_bytes), ended_at = clock_timestamp()
  where id = p_id;
  if p_error is not null then
    insert into conversion_jobs (id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, status, error_message)
    values (p_id, coalesce(p_customer_id, m.customer_id), coalesce(m.sender, p_recipient), coalesce(p_filename, m.filename), 'pdf',
      coalesce(p_file_bytes, m.file_bytes, 0), coalesce(m.pages, 0), 'error', p_error)
    on conflict (id) do nothing;
  end if;
  if p_reply is not null and not v_braked and (not p_stranger or first_today(p_recipient)) then
    perform queue_reply(p_id, p_recipient, p_reply);
  end if;
  return true;
end
$$;

-- As in 0023, and the signatures.
create or replace function erase_intake_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_customer uuid;
  v_mails uuid[];
  v_id uuid;
  v_found boolean;
begin
  select c.id into v_customer from customers c where c.email = p_email;
  select array_agg(l.id) into v_mails
  from (
    select x.id from intake_mails x
    where x.sender = p_email or lower(x.envelope_from) = p_email or x.customer_id = v_customer
      or exists (select from intake_replies r where r.mail_id = x.id and r.recipient = p_email)
    order by x.id
    for no key update
  ) l;
  v_found := v_mails is not null;
  delete from intake_replies where mail_id = any (v_mails);
  delete from intake_identities where mail_id = any (v_mails);
  foreach v_id in array coalesce(v_mails, '{}') loop
    perform release_hold(v_id, 'cancelled');
  end loop;
  update intake_mails set
    step = 'ended', outcome = coalesce(outcome, 'error'), reason = 'the person was erased',
    ended_at = coalesce(ended_at, clock_timestamp()), envelope_from = '', identity = null, message_id = null, sender = null,
    content_sha256 = null, subject = null, thread_references = null, filename = null, ignored = '[]', source_key = null,
    result_key = null, lease = null, cleaned = null
  where id = any (v_mails);
  update conversion_jobs set sender_email = erased_alias(p_email), filename = '', error_message = null
  where sender_email = p_email or customer_id = v_customer;
  v_found := v_found or found;
  delete from intake_strangers where sender = p_email;
  return v_found or found;
end
$$;

select secure_function(f) from unnest(array[
  'identify_mail(uuid, uuid, text, text, text, text, text, text, integer, text[])',
  'end_mail(uuid, uuid, text, text, uuid, text, integer, text, text, jsonb, boolean, integer)',
  'erase_intake_person(text)'
]::regprocedure[]) as f;

-- As in 0021; pages that could not be read are pages of the file, and are not charged.
create or replace function finish_mail(
  p_id uuid, p_lease uuid, p_pages integer, p_standard integer, p_complex integer, p_result_key text,
  p_result_bytes bigint, p_recipient text, p_reply jsonb, p_as_link boolean
) returns table (answer text, plan text, balance integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  m intake_mails;
  h funds_holds;
  f record;
  -- In all, those that could not be read and are not charged among them.
  v_total integer := p_pages + coalesce(jsonb_array_length(p_reply -> 'unreadablePages'), 0);
begin
  select * into m from intake_mails where id = p_id for no key update;
  if not found or m.lease is distinct from p_lease or m.step = 'received' then
    return query select 'stale', null::text, null::integer;
    return;
  end if;
  if m.step = 'ended' then
    return query select case when m.outcome = 'success' then 'completed' else 'stale' end, null::text, null::integer;
    return;
  end if;
  perform from customers where id = m.customer_id for no key update;
  select * into h from funds_holds where job_id = p_id and state = 'held';
  select * into f from available_funds(m.customer_id, p_id);
  if h.id is null or (p_pages > greatest(h.credits, h.free_pages) and p_pages > greatest(f.credits, f.free_pages)) then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages);
    return;
  end if;
  if p_pages > greatest(h.credits, h.free_pages) then
    update funds_holds set
      credits = case when h.credits > 0 then p_pages else 0 end,
      free_pages = case when h.free_pages > 0 then p_pages else 0 end
    where id = h.id;
  end if;
  if settle_hold(p_id, p_pages) <> 'settled' then
    return query select 'insufficient', f.plan, greatest(f.credits, f.free_pages);
    return;
  end if;
  update intake_mails set
    step = 'ended', outcome = 'success', pages = v_total, result_key = p_result_key, result_bytes = p_result_bytes,
    ended_at = clock_timestamp()
  where id = p_id;
  insert into conversion_jobs (
    id, customer_id, sender_email, filename, file_type, file_size_bytes, total_pages, standard_pages, complex_pages,
    credits_charged, status
  ) values (
    p_id, m.customer_id, m.sender, m.filename, 'pdf', m.file_bytes, v_total, p_standard, p_complex, p_pages, 'success'
  );
  select * into f from available_funds(m.customer_id);
  insert into intake_replies (mail_id, kind, recipient, content, as_link) values (
    p_id, p_reply ->> 'kind', p_recipient,
    p_reply || jsonb_build_object('creditsCharged', p_pages, 'balance', greatest(f.credits, f.free_pages)), p_as_link
  );
  return query select 'completed', f.plan, greatest(f.credits, f.free_pages);
end
$$;
