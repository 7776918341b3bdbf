-- The time that a text holds, ISO 8601 with its time zone; null for any other text.
create or replace function queued_moment(p_text text) returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_text !~ '^\d{4}-\d\d-\d\dT\d\d:\d\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$' then
    return null;
  end if;
  return p_text::timestamptz;
exception
  when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value then
    return null;
end
$$;
