-- Whether a request is of the usual kind, in which `queued_request_fault` finds nothing: one recipient, and no fields but those below, all of them texts of the right form. A
-- constant path costs a few microseconds, while the expressions of the full check are prepared in each transaction. All other requests are checked in full.
-- A step of `queue_email`.
create or replace function is_plain_request(p_request jsonb) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return jsonb_typeof(p_request) = 'object'
    and p_request - '{to,from,subject,html,text,category,source,idempotencyKey}'::text[] = '{}'
    and p_request @@ '
      !exists($.keyvalue() ? (@.value.type() != "string"))
      && $.to like_regex "^[^\\n\\r]*?[^\\s<>@,;]+@[^\\s<>@,;]+>?\\s*$"
      && (!exists($.from) || $.from like_regex "^[^\\n\\r]*?[^\\s<>@,;]+@[^\\s<>@,;]+>?\\s*$")
      && $.subject like_regex "^[^\\n\\r]*[^ \\n\\r][^\\n\\r]*$"
      && (exists($.html) || exists($.text))
      && ($.category == "transactional" || $.category == "notification" || $.category == "marketing" || $.category == "auth" || $.category == "alert")
      && $.source like_regex "^[^\\n\\r]+$"
      && (!exists($.idempotencyKey) || $.idempotencyKey like_regex "^[^\\n\\r]+$")'
    and length(p_request ->> 'source') <= 200 and coalesce(length(p_request ->> 'idempotencyKey') <= 256, true);
end
$$;
