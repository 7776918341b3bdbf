-- Results of a customer's mails that are kept behind a link, whether or not a reply brought it: newest first, with their end
-- (INBOUND-12, R1).
create or replace function kept_mail_results(p_customer_id uuid, p_link_lives interval)
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
  where m.customer_id = p_customer_id and m.result_key is not null
    and m.cleaned is distinct from 'all'
    and case when r.status = 'failed' then r.ended_at else m.ended_at end > clock_timestamp() - p_link_lives
  order by m.ended_at desc
  limit 100
$$;
