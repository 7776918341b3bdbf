-- The row of an event's mail, locked: that of (provider, provider_message_id). Where there is none and the event's tag names a use
-- of a key, the newest `deferred` row of that use gets provider and message id and moves to `sent`, unless an attempt on the key is
-- under way: then the event may be that attempt's, which will find it. Else a new row, which has no `created_at`: its caller writes
-- it. A tag of another installation matches no row and no claim: mail from outside, without a key. A step of `record_email_events`,
-- which sets the planner for it.
--
-- The condition on the message id is a `between`, ordered as in the unique index: only that index matches. With `=` the planner takes any
-- index that begins with the provider for as long as the log looks empty to it, and then every event reads all rows of the provider.
create or replace function lock_row_of_event(e delivery_event) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log;
  v_key text;
begin
  loop
    select * into r from email_log l
    where l.provider = e.provider and l.provider_message_id between e.provider_message_id and e.provider_message_id
    order by l.provider_message_id
    limit 1
    for update;
    if found then
      return r;
    end if;

    v_key := null;
    if e.key_tag is not null then
      v_key := coalesce(
        (select c.key_hash from email_send_claims c where c.tag = e.key_tag limit 1),
        (
          select l.key_hash from email_log l
          where l.key_tag = e.key_tag and l.outcome is distinct from 'sent' and l.key_hash is not null
          limit 1
        )
      );
      if not exists (
        select from email_send_claims c where c.key_hash = v_key and c.lease_until > clock_timestamp()
      ) then
        select * into r from email_log l
        where l.key_tag = e.key_tag and l.outcome is distinct from 'sent' and l.status = 'deferred'
          and l.provider_message_id is null
        order by l.created_at desc, l.id desc
        limit 1
        for update;
        if found then
          begin
            update email_log l set
              provider = e.provider, provider_message_id = e.provider_message_id, status = 'sent',
              cost_usd = coalesce(l.cost_usd, l.accepted_cost_usd), updated_at = now()
            where l.id = r.id
            returning * into r;
            perform tell_hooks('email.sent', hook_subject_of_mail(r), clock_timestamp(), hook_data_of_mail(r, clock_timestamp(), null));
            return r;
          exception
            when unique_violation then continue; -- Its own attempt wrote the message id meanwhile.
          end;
        end if;
      end if;
    end if;

    r := null;
    r.id := gen_random_uuid();
    r.provider := e.provider;
    r.provider_message_id := e.provider_message_id;
    r.status := 'sent';
    r.to_addresses := '{}';
    r.suppression_marks := '{}';
    r.key_hash := v_key;
    r.alerted_at := case when e.backfill then now() end;
    return r;
  end loop;
end
$$;
