-- Records entries one by one, in the order in which their rows are locked. A step of `record_email_sends`, which says what they hold; its settings apply.
create or replace function record_known_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  e email_log_row;
  v_is_news boolean;
  v_marks text[]; v_of_row jsonb;
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
  foreach e in array email_log_rows_in_order(p_entries)
  loop
    ordinal := e.ordinal;
    select x.send_id, x.status, x.provider_message_id, x.marks, x.learned, x.is_news
    into send_id, status, provider_message_id, v_marks, v_of_row, v_is_news
    from write_row_of_attempt(e) as x;
    v_suppress := v_suppress || v_marks;
    if v_of_row is not null then
      v_learned := v_learned || jsonb_build_object(e.id, v_of_row);
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
