-- What is wrong with a request of the queue, as `field: reason`; null where nothing is. What only a sender can see, such as an attachment that
-- is no base64, ends the request `failed`. A step of `queue_email`.
create or replace function queued_request_fault(p_request jsonb) returns text
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_field text;
  v_fault text;
  v_count integer := 0;
begin
  if jsonb_typeof(p_request) is distinct from 'object' then
    return 'the request must be a JSON object';
  end if;
  select k into v_field from jsonb_object_keys(p_request) as k where k <> all (array[
    'to', 'cc', 'bcc', 'from', 'replyTo', 'subject', 'html', 'text', 'category', 'source', 'provider', 'configurationSet', 'tags',
    'headers', 'idempotencyKey', 'attachments', 'expiresAt', 'requireClaim', 'deferAfterMs', 'queue', 'sendAt', 'list'
  ]) limit 1;
  if found then
    return v_field || ': is no field of a request';
  end if;
  foreach v_field in array array[
    'from', 'subject', 'html', 'text', 'category', 'source', 'provider', 'configurationSet', 'idempotencyKey', 'expiresAt', 'sendAt', 'list'
  ] loop
    if p_request ? v_field and jsonb_typeof(p_request -> v_field) <> 'string' then
      return v_field || ': must be a string';
    end if;
  end loop;
  if coalesce(p_request -> 'to', '[]') in ('[]', '""') then
    return 'to: at least one recipient is needed';
  end if;
  foreach v_field in array array['to', 'cc', 'bcc', 'replyTo', 'from'] loop
    v_fault := queued_addresses_fault(v_field, p_request -> v_field);
    if v_fault is not null then
      return v_fault;
    end if;
  end loop;
  foreach v_field in array array['to', 'cc', 'bcc'] loop
    v_count := v_count + case jsonb_typeof(p_request -> v_field)
      when 'array' then jsonb_array_length(p_request -> v_field) when 'string' then 1 else 0 end;
  end loop;
  if v_count > 50 then
    return 'to: more than 50 recipients with cc and bcc';
  end if;
  return case
    when coalesce(trim(p_request ->> 'subject'), '') = '' then 'subject: is needed'
    when p_request ->> 'subject' ~ '[\n\r]' then 'subject: holds a line break or NUL'
    when not p_request ?| array['html', 'text'] then 'html: one of html and text is required'
    when not p_request ? 'category' then 'category: is needed'
    when p_request ->> 'category' <> all (email_queue_lanes()) then 'category: must be one of ' || array_to_string(email_queue_lanes(), ', ')
    when p_request ->> 'provider' <> all (email_providers()) then 'provider: must be one of ' || array_to_string(email_providers(), ', ')
    when p_request ->> 'list' !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' or length(p_request ->> 'list') > 64
      then 'list: must be at most 64 small letters and digits, with single dots, hyphens and underscores between them'
    when p_request ? 'list' and p_request ->> 'category' not in ('marketing', 'notification')
      then 'list: is of the categories marketing and notification alone'
    when coalesce(p_request ->> 'source', '') = '' then 'source: is needed'
    when length(p_request ->> 'source') > 200 or p_request ->> 'source' ~ '[\n\r]' then 'source: must be one line of at most 200 characters'
    when not coalesce(length(p_request ->> 'idempotencyKey') between 1 and 256, true) then 'idempotencyKey: must have 1 to 256 characters'
    when p_request ->> 'idempotencyKey' ~ '[\n\r]' then 'idempotencyKey: holds a line break or NUL'
    when jsonb_typeof(coalesce(p_request -> 'headers', '{}')) <> 'object' then 'headers: must be an object'
    when p_request -> 'headers' @? '$.* ? (@.type() != "string" || @ like_regex "[\n\r]")' then 'headers: must be strings without line breaks'
    when jsonb_typeof(coalesce(p_request -> 'tags', '{}')) <> 'object' then 'tags: must be an object'
    when jsonb_typeof(coalesce(p_request -> 'attachments', '[]')) <> 'array' then 'attachments: must be a list'
    when p_request ? 'sendAt' and queued_moment(p_request ->> 'sendAt') is null then 'sendAt: is no date in ISO 8601 with its time zone'
    when queued_moment(p_request ->> 'sendAt') > clock_timestamp() + interval '30 days' then 'sendAt: is more than 30 days ahead'
    when p_request ? 'expiresAt' and queued_moment(p_request ->> 'expiresAt') is null then 'expiresAt: is no date in ISO 8601 with its time zone'
    when queued_moment(p_request ->> 'expiresAt') <= coalesce(queued_moment(p_request ->> 'sendAt'), clock_timestamp())
      then 'expiresAt: must be after sendAt'
  end;
end
$$;
