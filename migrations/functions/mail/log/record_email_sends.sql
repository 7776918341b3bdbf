-- Writes rows of the library, several in one call (MAIL-70, MAIL-71); `ordinal` counts the entries from 1. Called by
-- `MailStore`. Keys of an entry:
--
--   id, category, source, from, to, others, dropped (recipients that were left out), subject,
--   outcome (sent, deferred, suppressed, failed), error, error_kind, failed_over, cost_usd,
--   accepted_cost_usd (what a deferred attempt costs once an event proves it accepted), idempotency_key, key_hash (else
--   the SHA-256 hex of idempotency_key), key_tag (the tag that the request carried), provider, provider_message_id,
--   settle { owner, state, ambiguous, result } (`settle_email_claims`), retry_at (of a deferral),
--   attempts [{ provider, outcome, reason, code, startedAt, durationMs }] (MAIL-74), tags (of the caller).
--
-- One row an attempt, whichever writer comes first (L1). Idempotent on `id` and on (provider, provider_message_id): a row
-- that an event made is completed, keeps its id, and has the further of both statuses; a row that is complete is not
-- changed by the same entry again.
--
-- A `deferred` entry of a use of its key that has evidence on a row that only events wrote completes that row, whichever provider it
-- is of. Where the evidence is on another attempt's row, this attempt's row is written as `deferred`: the key is settled
-- by the other row (D1 counts all rows of a key together), its retry ends without sending, and the end state is the one of the
-- other order, in which the event would have found both rows and moved one of them.
--
-- Acceptances that nothing is known of are written at once (`write_new_sends`), everything else in turn (`record_known_sends`).
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions, claims, subjects of hooks. A deferral completes the row that an
-- early event made, and locks it at that row's place in the order; the key's lock keeps events from making such a row
-- meanwhile, and another writer of the same attempt from missing that it was completed. The settings: rows are found by the indexes,
-- whatever the statistics say of a log that grew quickly; with the ones from before there were rows each entry would read all of them.
create or replace function record_email_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  w record;
begin
  if p_entries @? '$[*] ? (@.outcome != "sent" || @.settle.isRetry == true || !exists(@.id ? (@ != null)) || !exists(@.provider_message_id ? (@ != null)))' then
    return query select x.* from record_known_sends(p_entries) as x;
    return;
  end if;
  select * into w from write_new_sends(p_entries);
  if w.ids is null then
    return query select x.* from record_known_sends(p_entries) as x;
    return;
  end if;
  status := 'sent';
  for v_at in 1 .. cardinality(w.ids) loop
    ordinal := w.ordinals[v_at];
    send_id := w.ids[v_at];
    provider_message_id := w.messages[v_at];
    return next;
  end loop;
  if w.unsettled is not null then
    perform settle_email_claims(w.unsettled, '{}');
  end if;
  if any_event_hook() then
    perform tell_hooks_of_sends(w.ids, array_fill('sent'::text, array[cardinality(w.ids)]));
  end if;
end
$$;
