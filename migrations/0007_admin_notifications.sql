-- Which alerts admins want, and where; a row that is missing counts as on.
create table admin_notification_preferences (
  alert_type text not null check (alert_type <> ''),
  channel text not null check (channel in ('email', 'chat')),
  enabled boolean not null default true,
  updated_at timestamptz not null default now(),
  primary key (alert_type, channel)
);

insert into admin_notification_preferences (alert_type, channel)
values ('email_delivery_failure', 'email'), ('email_delivery_failure', 'chat');

select secure_table('admin_notification_preferences');
