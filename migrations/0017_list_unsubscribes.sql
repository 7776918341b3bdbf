-- Addresses that left a mailing list, by its link or by the API (MAIL-67). Those that left all marketing are in `unsubscribes`.
create table list_unsubscribes (
  -- Bare and lower-case; an erased person's is a hash (P3).
  email text not null check (email = lower(email collate "C") and email <> ''),
  list text not null check (list <> ''),
  created_at timestamptz not null default now(),
  primary key (email, list)
);

create index list_unsubscribes_created on list_unsubscribes (created_at desc, email, list);

create trigger list_unsubscribes_address before insert or update of email on list_unsubscribes
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

select secure_table('list_unsubscribes');

create trigger list_unsubscribes_told_added after insert on list_unsubscribes
referencing new table as changed for each statement execute function tell_hooks_of_suppressions();

create trigger list_unsubscribes_told_removed after delete on list_unsubscribes
referencing old table as changed for each statement execute function tell_hooks_of_suppressions();
