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
#variable_conflict use_column
declare
  e email_log_row;
  v_written boolean; v_is_news boolean := true;
  v_marks text[]; v_of_row jsonb;
  v_entries email_log_row[];
  v_retries boolean := p_entries @? '$[*].settle.isRetry ? (@ == true)';
  v_unproven boolean := p_entries @? '$[*] ? (!exists(@.provider_message_id ? (@ != null)))';
  v_suppress text[] := '{}';
  v_learned jsonb := '{}'; -- By entry (`learned_of_row`).
  v_hooked boolean := any_event_hook();
  -- For event hooks: the rows that were written, completed or moved, and how.
  v_ids uuid[] := '{}';
  v_outcomes text[] := '{}';
begin
  if v_retries then
    -- Before any other lock, as there: an erasure neither misses the row nor is missed by it.
    perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  end if;
  if v_unproven or v_retries then
    perform lock_keys_of_sends(p_entries);
  end if;
  if v_retries then
    -- Not before: what another writer says of the key decides whom its rows may name.
    p_entries := without_erased_people(p_entries);
  end if;
  v_entries := email_log_rows_of(p_entries);

  -- Acceptances that nothing is known of are written at once. If one has a row, none is written here: each takes its place below.
  v_written := not v_unproven and insert_new_rows(v_entries);
  foreach e in array v_entries
  loop
    ordinal := e.ordinal;
    send_id := e.id;
    status := e.outcome;
    provider_message_id := e.provider_message_id;
    if not v_written then
      select x.send_id, x.status, x.provider_message_id, x.marks, x.learned, x.is_news
      into send_id, status, provider_message_id, v_marks, v_of_row, v_is_news
      from write_row_of_attempt(e) as x;
      v_suppress := v_suppress || v_marks;
      if v_of_row is not null then
        v_learned := v_learned || jsonb_build_object(e.id, v_of_row);
      end if;
    end if;
    if v_hooked and v_is_news then
      v_ids := v_ids || send_id;
      v_outcomes := v_outcomes || e.outcome;
    end if;
    return next;
  end loop;

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event that came before its row');
  end if;
  if p_entries @? '$[*].settle ? (@ != null)' then
    perform settle_email_claims(p_entries, v_learned);
  end if;
  if v_hooked then
    perform tell_hooks_of_sends(v_ids, v_outcomes);
  end if;
end
$$;
