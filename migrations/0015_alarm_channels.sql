-- Which channels have the notice of an alarm: each is tried for itself (EVENT-41).
alter table email_alarm_notices add column taken text[] not null default '{}';
