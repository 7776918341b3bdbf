-- What admins did, for the digest and for whoever asks later. Rows are added, never changed.
create table admin_audit_log (
  id uuid primary key default gen_random_uuid(),
  -- What was done, such as `email_unsuppress`.
  action text not null check (action <> ''),
  -- Who did it.
  actor text not null,
  -- What it was done to.
  target text,
  -- Why, in that person's words.
  note text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create index admin_audit_log_created on admin_audit_log (created_at desc, id desc);

select secure_table('admin_audit_log');
