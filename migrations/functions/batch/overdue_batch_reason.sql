-- Why a job need not wait any longer; null where it does. It has waited for `p_give_up`, or its row is `preparing` for
-- `p_stuck` and the service was not full. A submitted row has a deadline, at which the driver gives up by itself; `p_slack` is the time that it has for
-- that.
create or replace function overdue_batch_reason(
  j large_conversion_jobs, b conversion_batch_jobs, p_give_up interval, p_stuck interval, p_slack interval
) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  select case
    when j.status <> 'waiting_batch' then null
    when b.id is null or b.state = 'preparing' then case
      when j.created_at <= clock_timestamp() - p_give_up then 'it was not done in time'
      when greatest(b.prepare_started_at, b.full_at) <= clock_timestamp() - p_stuck - p_slack then 'preparing it got stuck'
    end
    when b.state = 'submitted' and b.deadline_at <= clock_timestamp() - p_slack then 'it was not done in time'
  end
$$;
